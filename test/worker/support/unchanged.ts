import { env } from "cloudflare:workers";
import { expect, onTestFinished } from "vitest";
import { everyRow } from "./database.ts";
import { fromNow, travelTo } from "./time.ts";

/**
 * What the work gives, where it leaves every row of every table as it was. It is done an hour later, so that an
 * updated_at that moves is seen.
 */
export async function changingNothing<T>(work: () => Promise<T>): Promise<T> {
  const before = await everyRow();
  travelTo(fromNow(60));
  const result = await work();
  const after = await everyRow();
  // Rows are many, and texts are compared faster; where they differ, this says in what.
  if (JSON.stringify(after) !== JSON.stringify(before)) expect(after).toEqual(before);
  return result;
}

/** Takes an organization's rows of the tables away when the test ends: so many would burden whoever looks at every row. */
export function leavingNoRows(organization_id: number, ...tables: string[]) {
  onTestFinished(async () => {
    for (const table of tables)
      await env.DB.prepare(`delete from ${table} where organization_id = ?`).bind(organization_id).run();
  });
}
