import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { digest } from "../../../src/bytes/digest.ts";
import { MINUTE } from "../../../src/units.ts";
import { anOrganization } from "../support/organization.ts";
import {
  addEntries,
  anAuditBucket,
  closedAt,
  fileOf,
  idsInFile,
  logOf,
  manyOrganizations,
  R2_FAULT,
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

it("The cron seals every entry exactly once in the end, even if a fifth of the R2 operations fail", async () => {
  const clinics = await Promise.all(
    Array.from({ length: 20 }, async () => withoutEntries(await anOrganization())),
  );
  const days = ["2026-01-10", "2026-01-11", "2026-01-12"];
  const added = new Map<number, number[]>();
  for (const clinic of clinics) {
    const times = days.flatMap((date) => [`${date}T10:00:00Z`, `${date}T11:00:00Z`]);
    added.set(clinic.id, await addEntries(clinic, ...times));
  }
  // Each organization has its own counter with its own start, so that its runs fail in every way, and never twice for one day.
  const asked = new Map(clinics.map(({ id }, n) => [String(id), n]));
  const failing = async <Result>(work: () => Promise<Result>, file: string): Promise<Result> => {
    const [organization = ""] = file.split("/");
    const n = (asked.get(organization) ?? 0) + 1;
    asked.set(organization, n);
    if (n % 10 === 0) throw new Error(R2_FAULT);
    const result = await work();
    // R2 has done the work, but the answer is lost.
    if (n % 10 === 5) throw new Error(R2_FAULT);
    return result;
  };
  const AUDIT_LOGS = anAuditBucket({ put: failing, get: failing });
  const left = async () =>
    (await Promise.all(clinics.map(sealsOf))).filter((seals) => seals.length < days.length).length;
  // One run may not reach all of them, because organizations of other tests have days to seal as well.
  for (let run = 0; run < 40 && (await left()) > 0; run++)
    await logOf(() => runCronAt(closedAt("2026-01-12") + run * 5 * MINUTE, { AUDIT_LOGS }));
  for (const clinic of clinics) {
    expect(await sealsOf(clinic)).toHaveLength(3);
    const ids = [];
    for (const date of days) ids.push(...(await idsInFile(clinic, date)));
    expect(ids).toEqual(added.get(clinic.id));
  }
});
