import { describe, expect, it } from "vitest";
import { CRON_PORTION } from "../../../src/tuning.ts";
import { anOrganizationWith, aRunForMany, BACKLOGS, leftOf } from "../support/backlogs.ts";
import { aQueue, workerWith } from "../support/queue.ts";

/** More rows than two runs finish. The long test has more. */
const BACKLOG = 5000;

describe(`While ${BACKLOG} old rows of one organization wait, another's are finished within two runs of the cron:`, () => {
  it.each(BACKLOGS)("$name", { timeout: 60_000 }, async (backlog) => {
    const large = await anOrganizationWith(backlog, BACKLOG);
    const small = await anOrganizationWith(backlog, 300);
    const { runCron } = workerWith({ BULK_INVITES: aQueue().binding });
    await runCron();
    await runCron();
    expect(await leftOf(backlog, small)).toBe(0);
    expect(await leftOf(backlog, large)).toBeGreaterThan(0);
    expect(await leftOf(backlog, large)).toBeLessThan(BACKLOG);
  });
});

it(`Each of 120 organizations gets its share in one run of the cron, though they exceed a portion and one has ${BACKLOG} old rows`, async () => {
  const { rows_read, leftOfLarge, leftOfOthers } = await aRunForMany(120, 20, BACKLOG);
  expect(leftOfOthers).toBe(0);
  expect(leftOfLarge).toBeGreaterThan(0);
  expect(leftOfLarge).toBeLessThan(BACKLOG);
  // About five rows for each deleted row, and some for each organization.
  expect(rows_read).toBeLessThan(20 * CRON_PORTION);
});
