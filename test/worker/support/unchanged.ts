import { env } from "cloudflare:workers";
import { expect, onTestFinished } from "vitest";
import { everyRowAsText } from "./database.ts";
import { fromNow, travelTo } from "./time.ts";

/**
 * Expects the work to leave every row of every table as it was, and returns its result. The work is done an hour later,
 * so that a change of updated_at is noticed.
 */
export async function changingNothing<T>(work: () => Promise<T>): Promise<T> {
  const before = await everyRowAsText();
  travelTo(fromNow(60));
  const result = await work();
  const after = await everyRowAsText();
  // There are many rows, and texts are compared faster. If they differ, this shows the difference.
  if (JSON.stringify(after) !== JSON.stringify(before)) expect(after).toEqual(before);
  return result;
}

/** Deletes an organization's rows from the tables when the test ends: so many would slow down `everyRow`. */
export function leavingNoRows(organization_id: number, ...tables: string[]) {
  onTestFinished(async () => {
    for (const table of tables)
      await env.DB.prepare(`delete from ${table} where organization_id = ?`).bind(organization_id).run();
  });
}
