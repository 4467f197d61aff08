import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { SEALED_PART } from "../../src/limits.ts";
import { anOrganization, given } from "./support/organization.ts";
import {
  addEntries,
  closedAt,
  fileOf,
  manyOrganizations,
  runCronAt,
  sealDay,
  sealsOf,
  withoutEntries,
} from "./support/seals.ts";

const FIVE_MINUTES = 300_000;
const RUNS_OF_TWO_HOURS = 24;

it("1,000 organizations are sealed within two hours of crons", { timeout: 600_000 }, async () => {
  const { sealed } = await manyOrganizations(1000, "2026-01-10T10:00:00Z");
  let runs = 0;
  while (Number(await sealed()) < 1000 && runs < RUNS_OF_TWO_HOURS)
    await runCronAt(closedAt("2026-01-10") + FIVE_MINUTES * runs++);
  expect({ sealed: await sealed(), runs }).toEqual({ sealed: 1000, runs: 20 });
});

it("A day with very many entries is sealed in parts, one a run, each a link of the chain", async () => {
  const clinic = await withoutEntries(await anOrganization());
  await env.DB.prepare(
    `with recursive counter (n) as (select 1 union all select n + 1 from counter where n < ?)
     insert into access_logs (organization_id, at, event, resource, user_id, request_id)
     select ?, ?, 'delete', 'transcript', 1, randomblob(16) from counter`,
  )
    .bind(SEALED_PART + 2, clinic.id, Date.parse("2026-01-10T10:00:00Z"))
    .run();
  await addEntries(clinic, "2026-01-11T10:00:00Z");
  const parts = async () =>
    (await sealsOf(clinic)).map(({ date, part, count }: Record<string, unknown>) => [date, part, count]);
  const [first, second] = [
    ["2026-01-10", 1, SEALED_PART],
    ["2026-01-10", 2, 2],
  ];
  while ((await parts()).length < 1) await sealDay("2026-01-10");
  expect(await parts()).toEqual([first]);
  // Whether the day goes on is only known by its part being full.
  await sealDay("2026-01-10");
  expect(await parts()).toEqual([first, second]);
  await sealDay("2026-01-10");
  await addEntries(clinic, "2026-01-10T11:00:00Z");
  await sealDay("2026-01-11");
  expect(await parts()).toEqual([first, second, ["2026-01-11", 1, 2]]);
  const size = async (part: number) => (await env.AUDIT_LOGS.head(fileOf(clinic, "2026-01-10", part)))?.size;
  expect(await size(1)).toBeGreaterThan(Number(await size(2)));
  const read = (query: string) => clinic.client.get(`/access_logs/2026-01-10${query}`);
  expect((await read("?part=2")).status).toBe(200);
  expect((await read("?part=3")).status).toBe(404);
  expect((await read("?part=0")).status).toBe(400);
  const { access_logs } = await given(clinic.client.get("/access_logs?from=2026-01-11&to=2026-01-11"));
  expect(access_logs).toHaveLength(1);
  // So many would slow down other tests.
  await env.DB.prepare(
    "delete from access_logs where organization_id = ?1 and id <= (select max(last_id) from access_log_seals where organization_id = ?1)",
  )
    .bind(clinic.id)
    .run();
});
