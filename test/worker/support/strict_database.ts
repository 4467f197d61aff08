import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../../src/index.ts";
import type { Fetcher } from "./door.ts";

/** The longest string that D1 takes; the local one takes longer ones. */
const MAX_STRING_BYTES = 2_000_000;

/** A way to the Worker on which D1 refuses long strings, as it does in production. */
export const throughStrictDatabase: Fetcher = async (request) => {
  const DB: D1Database = new Proxy(env.DB, {
    get(target, property) {
      if (property === "prepare") return (query: string) => strict(target.prepare(query));
      const value = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const context = createExecutionContext();
  const response = await worker.fetch(
    request as Request<unknown, IncomingRequestCfProperties>,
    { ...env, DB },
    context,
  );
  await waitOnExecutionContext(context);
  return response;
};

/** The statement itself, but for how values are bound to it: so D1 knows it for its own. */
function strict(statement: D1PreparedStatement): D1PreparedStatement {
  const bind = statement.bind.bind(statement);
  statement.bind = (...values: unknown[]) => {
    for (const value of values)
      if (typeof value === "string" && new TextEncoder().encode(value).length > MAX_STRING_BYTES)
        throw new Error("D1_ERROR: string or blob too big: SQLITE_TOOBIG");
    return bind(...values);
  };
  return statement;
}
