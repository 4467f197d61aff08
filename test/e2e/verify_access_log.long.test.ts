import { spawn } from "node:child_process";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { DAY, HOUR } from "../../src/units.ts";
import { printsOf } from "../support/prints.ts";
import { addEntries, databaseIn, deleteEntries } from "./support/entries.ts";
import { anOrganization } from "./support/organization.ts";
import { startServer } from "./support/server.ts";

const ENTRIES = 100_000;

/** A week that ended yesterday. The list may omit entries older than 400 days. */
const dates = [7, 6, 5, 4, 3, 2, 1].map((days) =>
  new Date(Date.now() - days * DAY).toISOString().slice(0, 10),
);

let url: string;
let clinic: Awaited<ReturnType<typeof anOrganization>>;
let database: DatabaseSync;

const seals = async () => (await clinic.external("GET", "/access_log_seals")).body.access_log_seals;

beforeAll(async () => {
  const server = await startServer({ ownData: "verified" });
  url = server.url;
  clinic = await anOrganization(url);
  database = databaseIn(join(server.persistTo, "verified"));
  deleteEntries(database, clinic.organization.id);
  for (const date of dates) addEntries(database, clinic.organization.id, date, Math.ceil(ENTRIES / 7));
  // The server closes idle connections, which this process has not noticed while it wrote.
  await setTimeout(100);
  const time = Date.parse(dates[6] as string) + DAY + HOUR;
  for (let run = 0; run < 20 && (await seals()).length < 7; run++)
    await fetch(`${url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*&time=${time + run}`);
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

  const [seal] = (await seals()).filter(({ date }: { date: string }) => date === dates[2]);
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
