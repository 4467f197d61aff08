import { expect, it } from "vitest";
import { closedAt, manyOrganizations, runCronAt } from "./support/seals.ts";

const FIVE_MINUTES = 300_000;
const RUNS_OF_TWO_HOURS = 24;

it("1,000 organizations are sealed within two hours of crons", { timeout: 600_000 }, async () => {
  const { sealed } = await manyOrganizations(1000, "2026-01-10T10:00:00Z");
  let runs = 0;
  while (Number(await sealed()) < 1000 && runs < RUNS_OF_TWO_HOURS)
    await runCronAt(closedAt("2026-01-10") + FIVE_MINUTES * runs++);
  expect({ sealed: await sealed(), runs }).toEqual({ sealed: 1000, runs: 20 });
});
