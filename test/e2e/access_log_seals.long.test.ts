import { createHash } from "node:crypto";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { addEntries, databaseIn, deleteEntries } from "./support/entries.ts";
import { freePort, inspect } from "./support/inspector.ts";
import { anOrganization } from "./support/organization.ts";
import { startServer } from "./support/server.ts";

it("The cron seals a day of 500,000 entries in one file, readable over HTTP, with a heap of less than 40 MB", async () => {
  const inspectorPort = await freePort();
  const server = await startServer({ inspectorPort, ownData: "million" });
  const clinic = await anOrganization(server.url);
  const database = databaseIn(join(server.persistTo, "million"));
  deleteEntries(database, clinic.organization.id);
  addEntries(database, clinic.organization.id, "2026-01-10", 500_000);
  const isolate = await inspect(inspectorPort);
  const time = Date.parse("2026-01-11T01:00:00Z");
  const cron = `${server.url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*&time=${time}`;
  const seals = async () => (await clinic.external("GET", "/access_log_seals")).body.access_log_seals;
  const counts = async () => (await seals()).map(({ count }: { count: number }) => count);
  const { heap, withBuffers } = await isolate.peakDuring(async () => {
    // Other organizations have days to seal too.
    while ((await counts()).length < 1) expect((await fetch(cron)).status).toBe(200);
  });
  isolate.close();
  const file = await fetch(`${server.url}/api/external/access_logs/2026-01-10`, {
    headers: clinic.credentials,
  });
  expect(file.status).toBe(200);
  const lines = gunzipSync(await file.arrayBuffer());
  const [seal] = await seals();
  expect(createHash("sha256").update(lines).digest("hex")).toBe(seal.sha256);
  process.stdout.write(`${JSON.stringify({ heap, withBuffers })}\n`);
  expect(await counts()).toEqual([500_000]);
  expect(withBuffers).toBeLessThan(40);
});
