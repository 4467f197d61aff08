import { observedDatabase } from "./observed_database.ts";
import { throughWorkerWith } from "./worker.ts";

/** The longest string that D1 accepts. The local D1 accepts longer ones. */
const MAX_STRING_BYTES = 2_000_000;

/** A way to the Worker in which D1 refuses long strings, as in production. */
export const throughStrictDatabase = throughWorkerWith({
  DB: observedDatabase({
    bind(values) {
      for (const value of values)
        if (typeof value === "string" && new TextEncoder().encode(value).length > MAX_STRING_BYTES)
          throw new Error("D1_ERROR: string or blob too big: SQLITE_TOOBIG");
    },
  }),
});
