import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  MAX_ACTING_USER_LENGTH,
  MAX_EXPORTED_ACCESS_LOGS,
  MAX_NAME_LENGTH,
  MAX_NOTE_LENGTH,
  MAX_TEXT_VERSIONS,
  MAX_TEXT_VERSIONS_SIZE,
  MAX_TRANSCRIPT_LINES,
  MAX_TRANSCRIPT_SIZE,
  PLATFORM_BODY_LIMIT,
} from "../../src/limits.ts";
import { freePort, inspect } from "./support/inspector.ts";
import { withDatabases } from "./support/local_databases.ts";
import { anOrganization } from "./support/organization.ts";
import { type Server, startServer } from "./support/server.ts";

/** Of an isolate's 128 MB. */
const MOST = 70;

/** Room for the summary, and for what corrections add. */
const TEXT_SIZE = MAX_TRANSCRIPT_SIZE - MAX_NOTE_LENGTH - 2000;

/** One character outside Latin-1 makes a text, and all that it is part of, twice as long in memory. */
const filled = (length: number, n: number) =>
  `${n % 10}山${`good morning ${n}, how are you? `.repeat(length / 28 + 1)}`.slice(0, length - 3);

function linesOf(count: number, sizeOfLine: number) {
  const line = (n: number) => ({ participant_key: "10", text: "", start_time: n, end_time: n });
  const room = sizeOfLine - JSON.stringify(line(count)).length;
  return Array.from({ length: count }, (_, n) => ({ ...line(n), text: filled(room, n) }));
}

const SHAPES = {
  "many lines": linesOf(MAX_TRANSCRIPT_LINES, Math.floor(TEXT_SIZE / MAX_TRANSCRIPT_LINES)),
  "long lines": linesOf(100, Math.floor(TEXT_SIZE / 100)),
};

/** As long as it can be, and in each of these another one. */
const summaryOf = (n: number) => filled(MAX_NOTE_LENGTH, n);

describe("What an isolate has in memory", () => {
  let server: Server;
  let isolate: Awaited<ReturnType<typeof inspect>>;
  let clinic: Awaited<ReturnType<typeof anOrganization>>;
  let provider: { id: number; waiting_room_slug: string };
  let idle: number;

  beforeAll(async () => {
    const inspectorPort = await freePort();
    server = await startServer({ inspectorPort });
    isolate = await inspect(inspectorPort);
    clinic = await anOrganization(server.url, { role: "organization_admin" });
    provider = await clinic.addUser("pascal", "provider");
    ({ withBuffers: idle } = await isolate.peakDuring(async () => {
      for (let n = 0; n < 50; n++) await clinic.external("GET", "/roles");
    }));
  });
  afterAll(() => isolate?.close());

  const external = (path: string, headers: object = {}) =>
    fetch(`${server.url}/api/external${path}`, { headers: { ...clinic.credentials, ...headers } });

  /** The peak in MB while so many callers at once take all of an answer. */
  async function peakOf(what: string, count: number, ask: () => Promise<Response>) {
    const { withBuffers } = await isolate.peakDuring(async () => {
      // All have begun before any is taken: a slow caller holds what its response is made from.
      const responses = await Promise.all(Array.from({ length: count }, ask));
      for (const { status } of responses) expect(status).toBe(200);
      const sizes = await Promise.all(responses.map(async (each) => (await each.arrayBuffer()).byteLength));
      expect(new Set(sizes).size).toBe(1);
      what += ` of ${Math.round((sizes[0] ?? 0) / 1024)} KiB`;
    });
    process.stdout.write(`${count} × ${what}: ${Math.round(withBuffers)} MB (idle: ${Math.round(idle)})\n`);
    return withBuffers;
  }

  let calls = 0;

  /** A call on which somebody with the longest name speaks, by a key of two characters. */
  async function aCall() {
    const key = crypto.randomUUID();
    const participant_key = String(10 + calls++);
    const call = {
      waiting_room_slug: provider.waiting_room_slug,
      organization_user_id: provider.id,
      started_at: "2026-01-31T09:30:00Z",
      ended_at: "2026-01-31T19:30:00Z",
      participants: [{ key: participant_key, display_name: "🩺".repeat(MAX_NAME_LENGTH), role: "recipient" }],
    };
    const { status, body } = await clinic.platform("PUT", `${clinic.base}/calls/${key}`, { call });
    expect(status).toBe(200);
    return {
      report: (lines: object[]) =>
        clinic.platform("PUT", `${clinic.base}/calls/${key}/transcript`, {
          transcript: { is_final: true, lines: lines.map((line) => ({ ...line, participant_key })) },
        }),
      path: `/organization_users/${provider.id}/calls/${body.id}/transcript`,
    };
  }

  describe.each(Object.entries(SHAPES))("of the longest transcript, in %s", (shape, lines) => {
    let call: Awaited<ReturnType<typeof aCall>>;

    /** As often, and as much, as there may be. */
    beforeAll(async () => {
      call = await aCall();
      expect((await call.report(lines)).status).toBe(200);
      const { body } = await clinic.external("GET", call.path);
      const share = MAX_TEXT_VERSIONS_SIZE / MAX_TEXT_VERSIONS;
      const count = Math.floor((0.9 * share * lines.length) / TEXT_SIZE);
      for (let n = 1; n <= MAX_TEXT_VERSIONS; n++) {
        const corrected = body.transcript_lines
          .slice(0, count)
          .map(({ id, text }: { id: number; text: string }) => ({ id, text: `${n % 10}${text.slice(1)}` }));
        const correction = { lines: corrected, reason: "Misheard" };
        const last = n === MAX_TEXT_VERSIONS ? { ...correction, summary: summaryOf(n) } : correction;
        const answer = await clinic.external("PUT", call.path, { transcript: last });
        expect(answer).toMatchObject({ status: 200 });
      }
    }, 120_000);

    it("when one caller reads it, ten and twenty at once, also as WebVTT", async () => {
      const read = () => external(call.path);
      expect(await peakOf(`transcript, ${shape},`, 1, read)).toBeLessThan(idle + 30);
      expect(await peakOf(`transcript, ${shape},`, 10, read)).toBeLessThan(MOST);
      expect(await peakOf(`transcript, ${shape},`, 20, read)).toBeLessThan(MOST);
      const asWebVtt = () => external(call.path, { Accept: "text/vtt" });
      expect(await peakOf(`WebVTT, ${shape},`, 20, asWebVtt)).toBeLessThan(MOST);
    }, 120_000);

    it("when its versions are read", async () => {
      const read = () => external(`${call.path}/versions`);
      expect(await peakOf(`versions, ${shape},`, 1, read)).toBeLessThan(MOST);
    }, 120_000);
  });

  it("of 29 lists of the access log as NDJSON at once", async () => {
    withDatabases(server.persistTo, (databases) => {
      databases
        .get(0)
        ?.prepare(
          `insert into access_logs (organization_id, at, event, resource, resource_id, call_id, organization_user_id, user_id,
            api_client_id, acting_user, purpose, request_id)
          select ?1, 1790000000000, 'update', 'organization_user', id, id, id, id, id, ?2, 'HOPERAT', randomblob(16)
          from (with recursive numbers (id) as (select 9007199250000000 union all select id + 1 from numbers limit ?3)
            select id from numbers)`,
        )
        .run(clinic.organization.id, "x".repeat(MAX_ACTING_USER_LENGTH), MAX_EXPORTED_ACCESS_LOGS + 1);
    });
    const list = () => external("/access_logs", { Accept: "application/x-ndjson" });
    expect(await peakOf("NDJSON list", 29, list)).toBeLessThan(MOST);
  }, 120_000);

  it("of ten reports of 1 MiB at once", async () => {
    for (const [shape, size] of [
      ["many lines", MAX_TRANSCRIPT_LINES],
      ["long lines", 105],
    ] as const) {
      const ten = await Promise.all(Array.from({ length: 10 }, aCall));
      const lines = linesOf(size, Math.floor(PLATFORM_BODY_LIMIT / size) - 3);
      expect(JSON.stringify(lines).length).toBeGreaterThan(0.9 * PLATFORM_BODY_LIMIT);
      const peak = await isolate.peakDuring(async () => {
        const answers = await Promise.all(ten.map(({ report }) => report(lines)));
        expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
      });
      process.stdout.write(`10 × report of 1 MiB, ${shape}: ${Math.round(peak.withBuffers)} MB\n`);
      expect(peak.withBuffers).toBeLessThan(MOST);
    }
  }, 120_000);
});
