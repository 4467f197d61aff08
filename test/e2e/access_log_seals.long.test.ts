import { join } from "node:path";
import { expect, it } from "vitest";
import { addEntries, databaseIn, deleteEntries } from "./support/entries.ts";
import { freePort, inspect } from "./support/inspector.ts";
import { anOrganization } from "./support/organization.ts";
import { startServer } from "./support/server.ts";

const MB = 1024 * 1024;

it("A day of a million entries is sealed with a heap of less than 64 MB", { timeout: 600_000 }, async () => {
  const inspectorPort = await freePort();
  const server = await startServer({ inspectorPort, ownData: "million" });
  const clinic = await anOrganization(server.url);
  const database = databaseIn(join(server.persistTo, "million"));
  deleteEntries(database, clinic.organization.id);
  addEntries(database, clinic.organization.id, "2026-01-10", 1_000_000);
  const isolate = await inspect(inspectorPort);
  const time = Date.parse("2026-01-11T01:00:00Z");
  const cron = `${server.url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*&time=${time}`;
  const seals = async () => (await clinic.external("GET", "/access_log_seals")).body.access_log_seals;
  const started = Date.now();
  const { heap, withBuffers } = await isolate.peakDuring(async () => {
    // Others have days to seal too.
    while ((await seals()).length === 0) expect((await fetch(cron)).status).toBe(200);
  });
  isolate.close();
  const response = await fetch(`${server.url}/api/external/access_logs/2026-01-10`, {
    headers: clinic.credentials,
  });
  const { byteLength } = await response.arrayBuffer();
  const figures = { heap, withBuffers, ms: Date.now() - started, bytesOfEntry: byteLength / 1_000_000 };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  expect(await seals()).toMatchObject([{ date: "2026-01-10", count: 1_000_000 }]);
  expect(heap).toBeLessThan(64);
  expect(withBuffers).toBeLessThan(64 + byteLength / MB);
});
