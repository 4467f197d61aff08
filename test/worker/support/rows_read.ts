import { observedDatabase } from "./observed_database.ts";
import { throughWorkerWith } from "./worker.ts";

/** A way to the Worker that adds up the rows that D1 has read. */
export function countingRowsRead() {
  let read = 0;
  const DB = observedDatabase({
    async query(run) {
      const result = await run();
      for (const each of [result].flat() as D1Result[]) {
        if (each?.meta?.rows_read === undefined)
          throw new Error("D1 says how many rows it has read only for all, run and batch");
        read += each.meta.rows_read;
      }
      return result;
    },
  });
  return {
    DB,
    fetcher: throughWorkerWith({ DB }),
    /** The result of the work, and the number of rows that were read for it. */
    async during<T>(work: () => Promise<T>) {
      read = 0;
      return { result: await work(), rows_read: read };
    },
  };
}
