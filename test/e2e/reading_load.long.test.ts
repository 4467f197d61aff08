import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { addEntries, databaseIn } from "./support/entries.ts";
import { freePort, inspect } from "./support/inspector.ts";
import { anOrganization } from "./support/organization.ts";
import { startServer } from "./support/server.ts";

/** An isolate may take 128 MB. */
const MOST = 70;

describe("What a client can read at once, within its limits", { timeout: 600_000 }, () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let inspectorPort: number;
  let clinic: Awaited<ReturnType<typeof anOrganization>>;
  let neighbour: Awaited<ReturnType<typeof anOrganization>>;

  beforeAll(async () => {
    inspectorPort = await freePort();
    server = await startServer({ inspectorPort, ownData: "load" });
    [clinic, neighbour] = await Promise.all([anOrganization(server.url), anOrganization(server.url)]);
    addEntries(databaseIn(join(server.persistTo, "load")), clinic.organization.id, "2026-01-10", 40_000);
  });
  const get = (path: string, { credentials } = clinic, headers = {}) =>
    fetch(`${server.url}/api/external${path}`, { headers: { ...credentials, ...headers } });

  /** How long another client's reads take, in milliseconds: half of them, and nineteen of twenty, are as fast. */
  async function timesOfNeighbour(until: () => boolean) {
    const times: number[] = [];
    while (!until() || times.length < 20) {
      const started = performance.now();
      const response = await get("/waiting_rooms", neighbour);
      expect(response.status, await response.text()).toBe(200);
      times.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? 0);
    return { p50: at(0.5), p95: at(0.95) };
  }

  it(`29 lists of the access log as NDJSON take at most ${MOST} MB, and all come`, async () => {
    const alone = await timesOfNeighbour(() => true);
    const isolate = await inspect(inspectorPort);
    let isDone = false;
    let beside = alone;
    const sizes: number[] = [];
    const { heap, withBuffers } = await isolate.peakDuring(async () => {
      const reads = Promise.all(
        Array.from({ length: 29 }, async () => {
          const response = await get("/access_logs", clinic, { Accept: "application/x-ndjson" });
          const text = await response.text();
          if (response.status === 200) sizes.push(text.length);
          else expect(response.status, text).toBe(503);
        }),
      ).finally(() => {
        isDone = true;
      });
      beside = await timesOfNeighbour(() => isDone);
      await reads;
    });
    isolate.close();
    process.stdout.write(
      `${JSON.stringify({ heap, withBuffers, alone, beside, size: sizes[0], all: sizes.length })}\n`,
    );
    expect(new Set(sizes).size).toBe(1);
    expect(withBuffers).toBeLessThan(MOST);
  });
});
