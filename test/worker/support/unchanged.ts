import { env } from "cloudflare:workers";
import { expect, onTestFinished } from "vitest";
import { everyRowAsText, rowsOf } from "./database.ts";
import { fromNow, travelTo } from "./time.ts";

/**
 * Expects the work to leave every row of every table as it was, and returns its result. The work is done an hour later,
 * so that a change of updated_at is noticed.
 */
export const changingNothing = <T>(work: () => Promise<T>) => comparing(everyRowAsText, work);

/** The same for a read that the access log records. */
export const changingOnlyTheLog = <T>(work: () => Promise<T>) =>
  comparing(async () => (await everyRowAsText()).filter(({ name }) => !LOG_TABLES.includes(name)), work);

/** The same of one organization, for work that other tests have left something to do too. */
export const changingNothingOf = <T>({ id }: { id: number }, work: () => Promise<T>) =>
  comparing(() => rowsOf(id), work);

const LOG_TABLES = ["access_logs", "waiting_list_reads", "organization_days"];

async function comparing<T>(rows: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const before = await rows();
  travelTo(fromNow(60));
  const result = await work();
  const after = await rows();
  // There are many rows, and texts are compared faster. If they differ, this shows the difference.
  if (JSON.stringify(after) !== JSON.stringify(before)) expect(after).toEqual(before);
  return result;
}

/** The statements that delete rows of a table: texts, with the entries without which none is deleted. */
export const deletionsFrom = (table: string, where = "true") => [
  ...(table === "call_texts"
    ? [
        `insert into access_logs (organization_id, at, event, resource, call_id, user_id)
         select organization_id, 0, 'delete', kind, call_id, 1 from ${table} where ${where}`,
      ]
    : []),
  `delete from ${table} where ${where}`,
];

/** Deletes an organization's rows from the tables when the test ends: so many would slow down `everyRow`. */
export function leavingNoRows(organization_id: number, ...tables: string[]) {
  onTestFinished(async () => {
    const deletions = tables.flatMap((table) => deletionsFrom(table, `organization_id = ${organization_id}`));
    await env.DB.batch(deletions.map((each) => env.DB.prepare(each)));
  });
}
