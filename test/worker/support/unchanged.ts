import { expect } from "vitest";
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
  expect(await everyRow()).toEqual(before);
  return result;
}
