import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../../src/index.ts";
import type { Fetcher } from "./door.ts";

/** Every row of every table, to see that a refused request changed nothing. */
export async function everyRow() {
  const tables = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not glob '_cf_*' and name not glob 'sqlite_*'",
  ).all<{ name: string }>();
  const contents = await env.DB.batch<Record<string, unknown>>(
    tables.results.map(({ name }) => env.DB.prepare(`select * from "${name}"`)),
  );
  return tables.results.map(({ name }, n) => ({ name, rows: contents[n]?.results ?? [] }));
}

/** Every row that belongs to one organization. */
export async function rowsOf(organization_id: number) {
  const tables = await everyRow();
  return tables.map(({ name, rows }) => ({
    name,
    rows: rows.filter((row) => row.organization_id === organization_id),
  }));
}

/** A way to the Worker, with other bindings if need be, that counts its calls of D1, those of its background work too. */
export function countingRoundTrips(bindings: object = {}) {
  let trips = 0;
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();

  function counted(statement: D1PreparedStatement): D1PreparedStatement {
    const proxy = new Proxy(statement, {
      get(target, property) {
        const value = Reflect.get(target, property);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (property !== "bind") trips++;
          const result = value.apply(target, args);
          return property === "bind" ? counted(result) : result;
        };
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
          return (statements: D1PreparedStatement[]) => {
            trips++;
            return target.batch(statements.map((statement) => originals.get(statement) ?? statement));
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
      { ...env, ...bindings, DB },
      context,
    );
    await waitOnExecutionContext(context);
    return response;
  };

  return {
    fetcher,
    /** How many round trips the work costs. */
    async during(work: () => Promise<unknown>) {
      trips = 0;
      await work();
      return trips;
    },
  };
}
