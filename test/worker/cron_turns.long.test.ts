import { describe, expect, it } from "vitest";
import { CRON_TURNS } from "../../src/tuning.ts";
import { anOrganizationWith, BACKLOGS, leftOf } from "./support/backlogs.ts";
import { aQueue, workerWith } from "./support/queue.ts";
import { countingRows } from "./support/rows.ts";

const BACKLOG = 100_000;

/** About 25 for each row that is worked off, with its indexes and triggers, and the entry of what is deleted. */
const READ_IN_A_RUN = 50_000;

describe(`While ${BACKLOG} old rows of one organization wait, others' are worked off within two runs of the cron:`, () => {
  it.each(BACKLOGS)("$name", { timeout: 600_000 }, async (backlog) => {
    const large = await anOrganizationWith(backlog, BACKLOG);
    const others = [];
    for (let n = 1; n < CRON_TURNS; n++) others.push(await anOrganizationWith(backlog, 20));
    const counting = countingRows();
    const { runCron } = workerWith({ DB: counting.DB, BULK_INVITES: aQueue().binding });
    for (let run = 0; run < 2; run++) {
      const { rows_read } = await counting.during(() => runCron());
      expect(rows_read).toBeLessThan(READ_IN_A_RUN);
    }
    for (const organization of others) expect(await leftOf(backlog, organization)).toBe(0);
    expect(await leftOf(backlog, large)).toBeGreaterThan(0);
  });
});
