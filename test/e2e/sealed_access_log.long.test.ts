import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { DAY, HOUR } from "../../src/units.ts";
import { printsOf } from "../support/prints.ts";
import { freePort, inspect } from "./support/inspector.ts";
import { openDatabase } from "./support/local_databases.ts";
import { anOrganization } from "./support/organization.ts";
import { startServer } from "./support/server.ts";

const ENTRIES = 100_000;

/** A week that ended yesterday. The list may omit entries older than 400 days. */
const dates = [7, 6, 5, 4, 3, 2, 1].map((days) =>
  new Date(Date.now() - days * DAY).toISOString().slice(0, 10),
);

type Clinic = Awaited<ReturnType<typeof anOrganization>>;

let url: string;
let inspectorPort: number;
let clinic: Clinic;
let database: DatabaseSync;

const sealsOf = async ({ external }: Clinic) =>
  (await external("GET", "/access_log_seals")).body.access_log_seals;

const runCron = (time: number) => fetch(`${url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*&time=${time}`);

/**
 * An organization with entries like a busy clinic's on each of these days: reads of texts by many people throughout a day. They
 * have no client, because a client's writes are limited.
 */
async function aClinicWithEntries(days: string[], count: number): Promise<Clinic> {
  const made = await anOrganization(url);
  const { id } = made.organization;
  // They are from today, and older entries added after them would be sealed after today.
  database.prepare("delete from access_logs where organization_id = ?").run(id);
  for (const day of days)
    database
      .prepare(
        `with recursive counter (n) as (select 0 union all select n + 1 from counter where n + 1 < ?3)
         insert into access_logs (organization_id, at, event, resource, resource_id, call_id, organization_user_id, user_id,
           api_client_id, acting_user, purpose, request_id)
         select ?1, ?2 + n * ?4 / ?3, 'read', iif(n % 3, 'transcript', 'soap_note'), 100000 + n / 7 * 3 % 9973,
           100000 + n / 7 * 3 % 9973, 10 + n % 41, 33, null, 'staff-' || (200 + abs(random()) % 300), 'TREAT', randomblob(16)
         from counter`,
      )
      .run(id, Date.parse(day), count, DAY);
  // The server closes idle connections, which this process has not noticed while it wrote.
  await setTimeout(100);
  return made;
}

beforeAll(async () => {
  inspectorPort = await freePort();
  const server = await startServer({ inspectorPort, ownData: "verified" });
  url = server.url;
  database = openDatabase(join(server.persistTo, "verified"));
  database.exec("pragma busy_timeout = 10000");
  clinic = await aClinicWithEntries(dates, Math.ceil(ENTRIES / 7));
  const time = Date.parse(dates[6] as string) + DAY + HOUR;
  for (let run = 0; run < 20 && (await sealsOf(clinic)).length < 7; run++) await runCron(time + run);
});

it("The cron seals a day of 500,000 entries in one file, readable over HTTP, with a heap of less than 40 MB", async () => {
  const busy = await aClinicWithEntries(["2026-01-10"], 500_000);
  const isolate = await inspect(inspectorPort);
  const { heap, withBuffers } = await isolate.peakDuring(async () => {
    // Other organizations have days to seal too.
    while ((await sealsOf(busy)).length < 1)
      expect((await runCron(Date.parse("2026-01-11T01:00:00Z"))).status).toBe(200);
  });
  isolate.close();
  const file = await fetch(`${url}/api/external/access_logs/2026-01-10`, { headers: busy.credentials });
  expect(file.status).toBe(200);
  const lines = gunzipSync(await file.arrayBuffer());
  process.stdout.write(`${JSON.stringify({ heap, withBuffers })}\n`);
  const sha256 = createHash("sha256").update(lines).digest("hex");
  expect(await sealsOf(busy)).toMatchObject([{ count: 500_000, sha256 }]);
  expect(withBuffers).toBeLessThan(40);
});

const CLI = "dist/client/external/cli.js";

function verify(...args: string[]) {
  const { "X-Client-ID": CLIENT_ID, "X-Client-Secret": CLIENT_SECRET } = clinic.credentials;
  const env = { ...process.env, CLIENT_ID, CLIENT_SECRET };
  return printsOf(spawn(process.execPath, [CLI, "verify-access-log", "--url", url, ...args], { env })).ended;
}

it("verify-access-log checks a week of 100,000 entries, prints its progress and the digest to keep, and names a changed row", async () => {
  const { code, output } = await verify();
  expect(code, output).toBe(0);
  expect(output).toMatch(/No fault found: 100,002 entries on 7 days match their seals/);
  expect(output).toContain(`${dates[3]}: 57,144 entries so far`);
  const head = /--head (\S+)/.exec(output)?.[1] ?? "";
  expect(head).toMatch(new RegExp(`^${dates[6]}=[0-9a-f]{64}$`));
  const again = await verify("--head", head, "--from", dates[6] as string);
  expect(again.output).toMatch(/No fault found: 14,286 entries on 1 day match their seals/);

  const [seal] = (await sealsOf(clinic)).filter(({ date }: { date: string }) => date === dates[2]);
  database.exec("drop trigger access_logs_unchanged");
  database.prepare("update access_logs set event = 'update' where id = ?").run(seal.first_id + 7);
  const changed = await verify("--from", dates[2] as string);
  expect(changed.code).toBe(1);
  expect(changed.output).toContain(
    `FAULT ${dates[2]}: The service shows other entries than the sealed ones: the entry ${seal.first_id + 7} was changed: event is update, but read was sealed.`,
  );
});

it.each([
  [["--head", "2026-01-31"], "--head must be a date and a SHA-256"],
  [["--from", "January"], "--from must be a date"],
  [["--nonsense"], "Usage: npx organization-video-visit-client verify-access-log"],
])("verify-access-log refuses wrong arguments, and says what it expects: %j", async (args, said) => {
  const { code, output } = await verify(...args);
  expect(code).toBe(2);
  expect(output).toContain(said);
});
