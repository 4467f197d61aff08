import { env } from "cloudflare:workers";
import { expect, onTestFinished } from "vitest";
import { everyRowAsText, rowsOf } from "./database.ts";
import { fromNow, travelTo } from "./time.ts";

/**
 * Expects the work to leave every row of every table as it was, and returns its result. The work is done an hour later,
 * so that a change of updated_at is noticed.
 */
export const changingNothing = <T>(work: () => Promise<T>) => comparing(everyRowAsText, work);

/** Like `changingNothing`, but allows the rows that recording a read in the access log adds or changes. */
export const changingOnlyTheLog = <T>(work: () => Promise<T>) => comparing(everyRowBesideTheLog, work);

/** Like `changingNothing`, but for one organization's rows only: for work that also processes rows of other tests. */
export const changingNothingOf = <T>({ id }: { id: number }, work: () => Promise<T>) =>
  comparing(() => rowsOf(id), work);

const LOG_TABLES = ["access_logs", "organization_days"];

export const everyRowBesideTheLog = async () =>
  (await everyRowAsText()).filter(({ name }) => !LOG_TABLES.includes(name));

async function comparing<T>(rows: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const before = await rows();
  travelTo(fromNow(60));
  const result = await work();
  const after = await rows();
  // Comparing texts is faster for many rows. If they differ, toEqual shows the difference.
  if (JSON.stringify(after) !== JSON.stringify(before)) expect(after).toEqual(before);
  return result;
}

/** The statements that delete rows of a table. Call texts cannot be deleted without an entry in the access log. */
export const deletionsFrom = (table: string, where = "true") => [
  ...(table === "call_texts"
    ? [
        `insert into access_logs (organization_id, at, event, resource, call_id, user_id)
         select organization_id, 0, 'delete', kind, call_id, 1 from ${table} where ${where}`,
      ]
    : []),
  `delete from ${table} where ${where}`,
];

/** Deletes an organization's rows from the tables when the test ends, because many rows would slow down `everyRow`. */
export function leavingNoRows(organization_id: number, ...tables: string[]) {
  onTestFinished(async () => {
    const deletions = tables.flatMap((table) => deletionsFrom(table, `organization_id = ${organization_id}`));
    await env.DB.batch(deletions.map((each) => env.DB.prepare(each)));
  });
}
