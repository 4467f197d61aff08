import { expect, it } from "vitest";
import { verifySource } from "../../../src/client/access_log_files.ts";
import { MAX_SEALED_ENTRIES } from "../../../src/limits.ts";
import { aSealedWeek, type Entry } from "../support/sealed_week.ts";

/** A week whose third day has `count` entries, and whose fourth day begins with an entry of the second. */
async function withLateEntryAfter(count: number) {
  const week = await aSealedWeek();
  const [, second = "", third = "", fourth = "", ...later] = week.dates;
  let id = 0;
  const ofDay = (date: string, many: number): Entry[] =>
    Array.from({ length: many }, () => ({ id: ++id, at: `${date}T10:00:00.000Z` }));
  week.days.clear();
  week.days.set(second, ofDay(second, 1));
  week.days.set(third, ofDay(third, count));
  week.days.set(fourth, [...ofDay(second, 1), ...ofDay(fourth, 1)]);
  for (const date of later) week.days.set(date, ofDay(date, 1));
  week.dates.shift();
  week.rows = [];
  for (const [date, entries] of week.days) {
    week.store(date, entries);
    for (const entry of entries) week.rows.push(entry);
  }
  week.seals = [];
  await week.sealAgain(second);
  return verifySource(week.source, week.check());
}

it("verifySource accepts an entry from two days before only if the previous seal is full", async () => {
  expect(await withLateEntryAfter(MAX_SEALED_ENTRIES)).toMatchObject({ entries: MAX_SEALED_ENTRIES + 6 });
  await expect(withLateEntryAfter(MAX_SEALED_ENTRIES - 1)).rejects.toThrow(
    /^2026-03-04: The date of the seal does not match its entries: the entry \d+ is of 2026-03-02\.$/,
  );
}, 120_000);
