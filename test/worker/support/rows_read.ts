import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../../src/index.ts";
import type { Fetcher } from "./door.ts";

/** A way to the Worker that sums up the rows that D1 says it has read. */
export function countingRowsRead() {
  let read = 0;
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();

  /** Only what D1 answers with its own count may be asked. */
  function counted(statement: D1PreparedStatement): D1PreparedStatement {
    const proxy = new Proxy(statement, {
      get(target, property) {
        if (property === "bind") return (...values: unknown[]) => counted(target.bind(...values));
        if (property === "all" || property === "run")
          return async () => {
            const result = await target[property]();
            read += result.meta.rows_read;
            return result;
          };
        throw new Error(`D1's ${String(property)} does not tell how many rows it has read`);
      },
    });
    originals.set(proxy, statement);
    return proxy;
  }

  const countedDatabase = (database: D1Database): D1Database =>
    new Proxy(database, {
      get(target, property) {
        if (property === "prepare") return (query: string) => counted(target.prepare(query));
        if (property === "batch")
          return async (statements: D1PreparedStatement[]) => {
            const results = await target.batch(statements.map((each) => originals.get(each) ?? each));
            for (const { meta } of results) read += meta.rows_read;
            return results;
          };
        if (property === "withSession")
          return (start?: string) => countedDatabase(target.withSession(start) as unknown as D1Database);
        if (property === "getBookmark") return () => (target as unknown as D1DatabaseSession).getBookmark();
        throw new Error(`The count does not know D1's ${String(property)}`);
      },
    });
  const DB = countedDatabase(env.DB);

  const fetcher: Fetcher = async (request) => {
    const context = createExecutionContext();
    const response = await worker.fetch(
      request as Request<unknown, IncomingRequestCfProperties>,
      { ...env, DB },
      context,
    );
    await waitOnExecutionContext(context);
    return response;
  };

  return {
    fetcher,
    /** What the work gives, and how many rows were read for it. */
    async during<T>(work: () => Promise<T>) {
      read = 0;
      return { result: await work(), rows_read: read };
    },
  };
}
