import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anOrganization } from "./support/organization.ts";
import { type Server, startServer } from "./support/server.ts";

const MB = 1024 * 1024;

/** What V8 says of the isolate, over the inspector. */
async function inspect(port: number) {
  const { promise: opened, resolve: isOpen, reject } = Promise.withResolvers<void>();
  // Node's own extension: wrangler answers nobody who does not say where a request comes from.
  const init = { headers: { Origin: "http://localhost" } } as unknown as string[];
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, init);
  const waiting = new Map<number, (result: { usedSize: number }) => void>();
  socket.addEventListener("open", () => isOpen());
  socket.addEventListener("error", () => reject(new Error("The inspector does not answer")));
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
  });
  await opened;
  let count = 0;
  const ask = (method: string) =>
    new Promise<{ usedSize: number }>((resolve) => {
      waiting.set(++count, resolve);
      socket.send(JSON.stringify({ id: count, method }));
    });
  return {
    /** The largest heap, in MB, while something runs. */
    async peakDuring(run: () => Promise<void>) {
      await ask("HeapProfiler.collectGarbage");
      let peak = 0;
      let runs = true;
      async function watch() {
        while (runs) peak = Math.max(peak, (await ask("Runtime.getHeapUsage")).usedSize);
      }
      const watched = watch();
      await run();
      runs = false;
      await watched;
      return peak / MB;
    },
    close: () => socket.close(),
  };
}

function freePort() {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
  });
  return promise;
}

describe("Four transcripts that are reported at once", () => {
  let server: Server;
  let isolate: Awaited<ReturnType<typeof inspect>>;
  beforeAll(async () => {
    const inspectorPort = await freePort();
    server = await startServer({ inspectorPort });
    isolate = await inspect(inspectorPort);
  });
  afterAll(() => isolate?.close());

  // An isolate may take 128 MB. Without turns, the largest take 95 and more. How much of it is garbage differs.
  it.each([
    { what: "of an hour", lines: 1200, length: 90, most: 40 },
    { what: "of 4 MiB, with long lines", lines: 1200, length: 3300, most: 80 },
    { what: "of 4 MiB, with many lines", lines: 30_000, length: 40, most: 80 },
  ])("$what take at most $most MB of the isolate's heap", async ({ lines, length, most }) => {
    const clinic = await anOrganization(server.url, { role: "provider" });
    const { id: organization_user_id, waiting_room_slug } = clinic.user;
    const calls = await Promise.all(
      ["a", "b", "c", "d"].map(async (participant) => {
        const key = crypto.randomUUID();
        const participants = [{ key: participant, display_name: "Rita Recipient", role: "recipient" }];
        const started_at = "2026-01-31T09:30:00Z";
        const call = { waiting_room_slug, organization_user_id, started_at, participants };
        expect(await clinic.platform("PUT", `/calls/${key}`, { call })).toMatchObject({ status: 200 });
        return { key, participant };
      }),
    );
    const reportAll = async () => {
      const reports = calls.map(({ participant: participant_key }) => {
        const said = Array.from({ length: lines }, (_, n) => ({
          participant_key,
          text: `${n} good morning ${participant_key} `.repeat(length).slice(0, length),
          start_time: n,
          end_time: n + 1,
        }));
        return { transcript: { is_final: true, lines: said } };
      });
      const answers = await Promise.all(
        reports.map((report, n) => clinic.platform("PUT", `/calls/${calls[n]?.key}/transcript`, report)),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    };
    expect(await isolate.peakDuring(reportAll)).toBeLessThan(most);
  });
});
