import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { digest } from "../../../src/bytes/digest.ts";
import { anOrganization } from "../support/organization.ts";
import {
  addEntries,
  closedAt,
  fileOf,
  manyOrganizations,
  runCronAt,
  sealDay,
  sealsOf,
  textOf,
  withoutEntries,
} from "../support/seals.ts";

const FIVE_MINUTES = 300_000;
const RUNS_OF_TWO_HOURS = 24;

it("The cron seals 1,000 organizations within two hours", async () => {
  const { sealed } = await manyOrganizations(1000, "2026-01-10T10:00:00Z");
  let runs = 0;
  while (Number(await sealed()) < 1000 && runs < RUNS_OF_TWO_HOURS)
    await runCronAt(closedAt("2026-01-10") + FIVE_MINUTES * runs++);
  expect({ sealed: await sealed(), runs }).toEqual({ sealed: 1000, runs: 20 });
});

const MANY = 120_000;

it("The cron seals a day with 120,000 entries in one file", async () => {
  const clinic = await withoutEntries(await anOrganization());
  await env.DB.prepare(
    `with recursive counter (n) as (select 1 union all select n + 1 from counter where n < ?)
     insert into access_logs (organization_id, at, event, resource, user_id, request_id)
     select ?, ?, 'delete', 'transcript', 1, randomblob(16) from counter`,
  )
    .bind(MANY, clinic.id, Date.parse("2026-01-10T10:00:00Z"))
    .run();
  await addEntries(clinic, "2026-01-11T10:00:00Z");
  while ((await sealsOf(clinic)).length < 1) await sealDay("2026-01-10");
  const [seal, ...others] = await sealsOf(clinic);
  expect(others).toEqual([]);
  expect(seal).toMatchObject({ date: "2026-01-10", count: MANY, last_id: seal.first_id + MANY - 1 });
  const lines = await textOf(fileOf(clinic, "2026-01-10"));
  expect(lines.split("\n")).toHaveLength(MANY + 1);
  expect(await digest(lines)).toBe(seal.sha256);
  // This many entries would slow down other tests.
  await env.DB.prepare(
    "delete from access_logs where organization_id = ?1 and id <= (select max(last_id) from access_log_seals where organization_id = ?1)",
  )
    .bind(clinic.id)
    .run();
});
