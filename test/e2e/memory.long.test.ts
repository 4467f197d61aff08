import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LARGE_BODY_RETRY_AFTER } from "../../src/lifetimes.ts";
import { freePort, inspect } from "./support/inspector.ts";
import { anOrganization } from "./support/organization.ts";
import { type Server, startServer } from "./support/server.ts";

/** Some wait in vain for their turn where the machine is busy, and try again as the answer says. */
async function untilItsTurn<Answer extends { status: number }>(ask: () => Promise<Answer>) {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    await setTimeout(LARGE_BODY_RETRY_AFTER * 1000);
  }
}

describe("Four transcripts that are reported at once, and then read by twenty at once,", () => {
  let server: Server;
  let isolate: Awaited<ReturnType<typeof inspect>>;
  beforeAll(async () => {
    const inspectorPort = await freePort();
    server = await startServer({ inspectorPort });
    isolate = await inspect(inspectorPort);
  });
  afterAll(() => isolate?.close());

  // An isolate may take 128 MB. Without turns, the largest take 80.
  it.each([
    { what: "of an hour", lines: 1200, length: 90, most: 20 },
    { what: "of 4 MiB, with long lines", lines: 1200, length: 3300, most: 50 },
    { what: "of 4 MiB, with many lines", lines: 30_000, length: 40, most: 50 },
  ])("$what take at most $most MB of the isolate's heap", async ({ lines, length, most }) => {
    const clinic = await anOrganization(server.url, { role: "organization_admin" });
    const { id: organization_user_id, waiting_room_slug } = await clinic.addUser("pascal", "provider");
    const calls = await Promise.all(
      ["a", "b", "c", "d"].map(async (participant) => {
        const key = crypto.randomUUID();
        const participants = [{ key: participant, display_name: "Rita Recipient", role: "recipient" }];
        const started_at = "2026-01-31T09:30:00Z";
        const ended_at = "2026-01-31T19:30:00Z";
        const call = { waiting_room_slug, organization_user_id, started_at, ended_at, participants };
        const { status, body } = await clinic.platform("PUT", `${clinic.base}/calls/${key}`, { call });
        expect(status).toBe(200);
        const path = `/organization_users/${organization_user_id}/calls/${body.id}/transcript`;
        return { key, participant, path };
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
        reports.map((report, n) =>
          untilItsTurn(() =>
            clinic.platform("PUT", `${clinic.base}/calls/${calls[n]?.key}/transcript`, report),
          ),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    };
    expect((await isolate.peakDuring(reportAll)).withBuffers).toBeLessThan(most);
    const readAll = async () => {
      const twenty = Array.from({ length: 5 }, () => calls).flat();
      const answers = await Promise.all(
        twenty.map(({ path }) => untilItsTurn(() => clinic.external("GET", path))),
      );
      for (const { status, body } of answers) {
        expect(status).toBe(200);
        expect(body.transcript_lines).toHaveLength(lines);
      }
    };
    expect((await isolate.peakDuring(readAll)).withBuffers).toBeLessThan(most);
  });
});
