import { env } from "cloudflare:workers";

/** A fault of D1: the transaction was not made, or it was, and its answer is lost. */
export type Fault = "not made" | "answer lost" | undefined;

/**
 * A database of which some transactions fail.
 *
 * @param nextFault says what becomes of the next transaction
 */
export function aFaultyDatabase(nextFault: () => Fault): D1Database {
  return new Proxy(env.DB, {
    get(target, property) {
      if (property === "prepare") return (query: string) => target.prepare(query);
      if (property === "batch")
        return async (statements: D1PreparedStatement[]) => {
          const fault = nextFault();
          if (fault === "not made") throw new Error("D1_ERROR: Network connection lost.");
          const results = await target.batch(statements);
          if (fault === "answer lost") throw new Error("D1_ERROR: Network connection lost.");
          return results;
        };
      throw new Error(`The faulty database does not know D1's ${String(property)}`);
    },
  });
}
