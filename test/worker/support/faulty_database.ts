import { env } from "cloudflare:workers";

/** A fault of D1: the transaction did not happen, or it did and the answer was lost. */
export type Fault = "not made" | "answer lost" | undefined;

/**
 * A database in which some transactions fail.
 *
 * @param nextFault returns the fault of the next transaction
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
      if (property === "countWrite") return undefined;
      throw new Error(`The faulty database does not have D1's ${String(property)}`);
    },
  });
}
