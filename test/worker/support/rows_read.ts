import { observedDatabase } from "./observed_database.ts";
import { throughWorkerWith } from "./worker.ts";

/** A way to the Worker that sums up the rows that D1 says it has read. */
export function countingRowsRead() {
  let read = 0;
  const DB = observedDatabase({
    async query(run) {
      const result = await run();
      for (const each of [result].flat() as D1Result[]) {
        if (each?.meta?.rows_read === undefined)
          throw new Error("D1 tells how many rows it has read of all, run and batch alone");
        read += each.meta.rows_read;
      }
      return result;
    },
  });
  return {
    fetcher: throughWorkerWith({ DB }),
    /** What the work gives, and how many rows were read for it. */
    async during<T>(work: () => Promise<T>) {
      read = 0;
      return { result: await work(), rows_read: read };
    },
  };
}
