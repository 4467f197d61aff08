import { beforeEach, describe, expect, it } from "vitest";
import { CRON_SHARES } from "../../src/tuning.ts";
import { anOrganizationWith, aRunForMany, BACKLOGS, leftOf } from "../worker/support/backlogs.ts";
import { emptyStorage } from "../worker/support/empty_storage.ts";
import { aQueue, rowsReadForNothing, workerWith } from "../worker/support/queue.ts";
import { countingRows } from "../worker/support/rows.ts";

const BACKLOG = 100_000;

/** About 15 rows for each finished row, with its indexes and triggers, and the entry of a deletion. */
const READ_IN_A_RUN = 75_000;

beforeEach(emptyStorage);

describe(`While ${BACKLOG} old rows of one organization wait, others' are finished within two runs of the cron:`, () => {
  it.each(BACKLOGS)("$name", async (backlog) => {
    const readForNothing = await rowsReadForNothing();
    const large = await anOrganizationWith(backlog, BACKLOG);
    const others = [];
    for (let n = 1; n < CRON_SHARES; n++) others.push(await anOrganizationWith(backlog, 20));
    const counting = countingRows();
    const { runCron } = workerWith({ DB: counting.DB, BULK_INVITES: aQueue().binding });
    for (let run = 0; run < 2; run++) {
      const { rows_read } = await counting.during(() => runCron());
      expect(rows_read - readForNothing).toBeLessThan(READ_IN_A_RUN);
    }
    for (const organization of others) expect(await leftOf(backlog, organization)).toBe(0);
    expect(await leftOf(backlog, large)).toBeGreaterThan(0);
  });
});

it(`Each of 1,000 organizations gets its share in one run of the cron, though one has ${BACKLOG} old rows`, async () => {
  const { rows_read, leftOfLarge, leftOfOthers } = await aRunForMany(999, 20, BACKLOG);
  expect(leftOfOthers).toBe(0);
  expect(leftOfLarge).toBeGreaterThan(0);
  expect(leftOfLarge).toBeLessThan(BACKLOG);
  // Some ten rows for each of the 20,000 deleted rows, and the rounds through the organizations.
  expect(rows_read).toBeLessThan(300_000);
});
