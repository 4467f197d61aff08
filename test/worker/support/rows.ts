import { env } from "cloudflare:workers";
import { growCalls, growEverythingElse, type Run } from "../../support/grown.ts";
import { observedDatabase } from "./observed_database.ts";
import type { Organization } from "./organization.ts";
import { throughWorkerWith } from "./worker.ts";

/** A fetcher that adds up the rows that D1 reads and writes for the Worker. */
export function countingRows() {
  let [read, written] = [0, 0];
  const DB = observedDatabase({
    async query(run) {
      const result = await run();
      for (const each of [result].flat() as D1Result[]) {
        if (each?.meta?.rows_read === undefined)
          throw new Error("D1 says how many rows it has read only for all, run and batch");
        read += each.meta.rows_read;
        written += each.meta.rows_written;
      }
      return result;
    },
  });
  return {
    DB,
    fetcher: throughWorkerWith({ DB }),
    /** Returns the result of the work, and the numbers of rows read and written for it. */
    async during<T>(work: () => Promise<T>) {
      [read, written] = [0, 0];
      return { result: await work(), rows_read: read, rows_written: written };
    },
  };
}

/** Runs a statement on the first database. */
export const run: Run = (statement, ...values) =>
  env.DB.prepare(statement)
    .bind(...values)
    .run();

/** Adds this many rows to every table of the organization. A call starts on each day since 1970, unless `start` says otherwise. */
export async function grow(
  { id, slug, admin, client }: Organization,
  provider: { id: number },
  room: { id: number },
  size: number,
  start?: string,
) {
  const ids = {
    id,
    slug,
    user_id: admin.id,
    client_id: client.id,
    provider_id: provider.id,
    room_id: room.id,
  };
  await growCalls(run, ids, size, Date.now(), start);
  await growEverythingElse(run, ids, size, Date.now());
}

/** Inserts the rows that the statement selects for each `n` from 1 to `size`, in portions. */
export async function insertMany(size: number, insert: string, ...values: unknown[]) {
  for (let from = 0; from < size; from += 10_000) {
    const to = Math.min(from + 10_000, size);
    await env.DB.prepare(
      `with recursive counter (n) as (select ${from + 1} union all select n + 1 from counter where n < ${to}) ${insert}`,
    )
      .bind(...values)
      .run();
  }
}
