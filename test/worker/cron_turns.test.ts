import { describe, expect, it } from "vitest";
import { anOrganizationWith, BACKLOGS, leftOf } from "./support/backlogs.ts";
import { aQueue, workerWith } from "./support/queue.ts";

/** More than two runs work off. The long test has more. */
const BACKLOG = 5000;

describe(`While ${BACKLOG} old rows of one organization wait, another's are worked off within two runs of the cron:`, () => {
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
