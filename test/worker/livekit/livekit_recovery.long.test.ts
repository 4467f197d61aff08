import { env } from "cloudflare:workers";
import { EgressInfo, EgressStatus, FileInfo } from "@livekit/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { EGRESSES_CHECKED } from "../../../src/tuning.ts";
import { aCall, reportEgress } from "../support/calls.ts";
import { aLiveKitRoom, anEgressId, delivered } from "../support/livekit.ts";
import { aLiveKit, claimsOf, twirp } from "../support/livekit_api.ts";
import { logged } from "../support/logged.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { rowsReadForNothing } from "../support/queue.ts";
import { countingRows, insertMany } from "../support/rows.ts";
import { fromNow, reachTimeouts, travelTo } from "../support/time.ts";

const NANOSECONDS = 1_000_000n;
const { EGRESS_ACTIVE, EGRESS_ENDING, EGRESS_COMPLETE } = EgressStatus;

/** Each test begins without egresses to ask about. From then on, time passes only when the test says so. */
beforeEach(async () => {
  await env.DB.prepare("update egresses set check_at = null").run();
  travelTo(fromNow(0));
});

const passMinutes = (minutes: number) => travelTo(fromNow(minutes));

/** A call with a recording that has begun, and whose further events are lost. */
async function aSilentEgress() {
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  const egress_id = unique("EG");
  const active = { status: "egress_active", is_stopped: false, ended_at: null, storage_key: null };
  const { id } = await call.addEgress(active, egress_id);
  const read = () => given(clinic.client.get(`${call.path}/egresses/${id}`));
  const storage_key = `${clinic.slug}/${egress_id}.mp4`;
  const runs = { roomName: `${clinic.slug}--visit` };
  const ends = () => ({
    ...runs,
    endedAt: BigInt(Date.now()) * NANOSECONDS,
    fileResults: [new FileInfo({ filename: storage_key })],
  });
  /** Fields of LiveKit's answer about the egress. */
  const said = { runs, ends };
  return { clinic, call, id: id as number, egress_id, storage_key, said, read };
}

async function insertSilentEgresses(size: number) {
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  const prefix = unique("EG");
  await insertMany(
    size,
    `insert into egresses (organization_id, call_id, egress_id, status, is_stopped, check_at, created_at, updated_at)
     select ?1, ?2, ?3 || n, 'egress_active', 0, ?4, ?4, ?4 from counter`,
    ...[clinic.id, call.id, prefix, Date.now() - 11 * 60_000],
  );
}

describe("Asking LiveKit for the lost end of a recording", () => {
  it("happens ten minutes after the last report, and reports LiveKit's answer, without another recording's file", async () => {
    const livekit = aLiveKit();
    const lines = logged();
    const { id, egress_id, storage_key, said, read, clinic, call } = await aSilentEgress();
    const end = said.ends();
    const filename = `${clinic.slug}/${unique("taken")}.mp4`;
    await call.addEgress({ storage_key: filename });
    const fileResults = [new FileInfo({ filename }), ...end.fileResults];
    livekit.egress(egress_id, EGRESS_COMPLETE, { ...end, fileResults });
    passMinutes(9.9);
    await livekit.runCron();
    expect(livekit.asked).toEqual([]);
    passMinutes(0.2);
    await livekit.runCron();
    expect(livekit.asked).toEqual([egress_id]);
    const egress = await read();
    expect(egress).toMatchObject({
      status: "egress_ended",
      is_stopped: true,
      ended_at: new Date(Number(end.endedAt / NANOSECONDS)).toISOString(),
      error: null,
      url: expect.stringContaining(storage_key),
    });
    const { audit_logs } = await given(clinic.client.get(`${call.path}/egresses/${id}/audit_logs`));
    expect(audit_logs.map(({ event }: { event: string }) => event)).toEqual(["read", "update", "create"]);
    expect(lines()).toEqual([
      { event: "livekit_file_not_used", egress_id: id, reason: "of another recording" },
      { event: "egress_recovered", egress_id: id, status: "egress_ended" },
    ]);
    passMinutes(60);
    await livekit.runCron();
    expect(livekit.asked).toEqual([egress_id]);
  });

  it("finds the egress in the response of an old server, which lists all egresses", async () => {
    const livekit = aLiveKit();
    const { egress_id, said, read } = await aSilentEgress();
    const other = await aSilentEgress();
    livekit.answer = () =>
      twirp.list(
        new EgressInfo({ egressId: "EG_elsewhere", status: EGRESS_COMPLETE, ...said.ends() }),
        new EgressInfo({ egressId: egress_id, status: EGRESS_COMPLETE, ...said.ends() }),
      );
    passMinutes(11);
    await livekit.runCron();
    expect(await read()).toMatchObject({ status: "egress_ended" });
    expect(await other.read()).toMatchObject({ status: "egress_active" });
  });

  it("uses a token that permits only this and expires soon", async () => {
    const livekit = aLiveKit();
    const { egress_id } = await aSilentEgress();
    const requests: Request[] = [];
    livekit.answer = (request) => {
      requests.push(request);
      return livekit.own(egress_id);
    };
    passMinutes(11);
    await livekit.runCron({ LIVEKIT_URL: "wss://livekit.example/base/" });
    const [request] = requests;
    if (!request) throw new Error("LiveKit was not asked");
    expect(request.url).toBe("https://livekit.example/base/twirp/livekit.Egress/ListEgress");
    expect(request.method).toBe("POST");
    expect(request.headers.get("Content-Type")).toBe("application/json");
    expect(request.redirect).toBe("manual");
    const { exp = 0, ...claims } = await claimsOf(request);
    expect(claims).toEqual({ alg: "HS256", typ: "JWT", iss: "livekit-key", video: { roomRecord: true } });
    expect(exp - Date.now() / 1000).toBeLessThanOrEqual(120);
  });

  it("includes an egress whose call is not reported yet", async () => {
    const livekit = aLiveKit();
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    const egress_id = anEgressId();
    await delivered([room.egress(egress_id, EGRESS_ACTIVE), room.started()]);
    passMinutes(11);
    await livekit.runCron();
    expect(livekit.asked).toEqual([egress_id]);
  });
});

it("A recording that is still running is asked about in every run until its status changes", async () => {
  const livekit = aLiveKit();
  const { egress_id, storage_key, said, read } = await aSilentEgress();
  const fileResults = [new FileInfo({ filename: storage_key })];
  livekit.egress(egress_id, EGRESS_ACTIVE, { ...said.runs, fileResults });
  passMinutes(11);
  const before = await env.DB.prepare("select * from egresses where egress_id = ?").bind(egress_id).first();
  for (let run = 1; run <= 10; run++) {
    await livekit.runCron();
    expect(livekit.asked).toHaveLength(run);
    passMinutes(5);
  }
  const after = await env.DB.prepare("select * from egresses where egress_id = ?").bind(egress_id).first();
  expect({ ...after, check_at: 0 }).toEqual({ ...before, check_at: 0 });
  livekit.egress(egress_id, EGRESS_ENDING, said.runs);
  await livekit.runCron();
  expect(await read()).toMatchObject({ status: "egress_ending", url: null });
  passMinutes(9);
  await livekit.runCron();
  expect(livekit.asked).toHaveLength(11);
});

describe("A recording that LiveKit does not know", () => {
  it.each([
    ["with an error", () => twirp.error(404, "not_found", "egress does not exist")],
    ["with an empty list", () => twirp.list()],
    ["without a list", () => Response.json({})],
    [
      "with another organization's egress of the same id",
      (egress_id: string) =>
        twirp.list(
          new EgressInfo({ egressId: egress_id, roomName: "other-clinic--visit", status: EGRESS_COMPLETE }),
        ),
    ],
    [
      "with an egress of a room without an organization",
      (egress_id: string) =>
        twirp.list(new EgressInfo({ egressId: egress_id, roomName: "visit", status: EGRESS_COMPLETE })),
    ],
  ])("stays as it is if LiveKit answers %s", async (_, answer) => {
    const livekit = aLiveKit();
    const lines = logged();
    const { clinic, id, egress_id, storage_key, read } = await aSilentEgress();
    livekit.answer = () => answer(egress_id);
    passMinutes(11);
    await livekit.runCron();
    expect(lines()).toEqual([{ event: "egress_unknown_to_livekit", egress_id: id }]);
    expect(await read()).toMatchObject({ status: "egress_active", is_stopped: false, error: null });
    await given(reportEgress(clinic, egress_id, { status: "egress_ended", storage_key }));
    expect(await read()).toMatchObject({ status: "egress_ended", url: expect.stringContaining(storage_key) });
  });

  it("is asked about less and less often", async () => {
    const livekit = aLiveKit();
    await aSilentEgress();
    passMinutes(10);
    const after: number[] = [];
    for (let minutes = 15; minutes <= 250; minutes += 5) {
      passMinutes(5);
      const before = livekit.asked.length;
      await livekit.runCron();
      if (livekit.asked.length > before) after.push(minutes);
    }
    expect(after).toEqual([15, 30, 60, 120, 240]);
  });
});

describe("A faulty LiveKit server", () => {
  const FAULTS: [string, string, () => Response | Promise<Response>][] = [
    ["refuses the connection", "unreachable", () => Promise.reject(new TypeError("Connection refused"))],
    ["is another service", "not_ok", () => new Response("404 page not found", { status: 404 })],
    ["redirects", "not_ok", () => Response.redirect("https://elsewhere.example/")],
    ["answers a page of HTML", "malformed", () => new Response("<!doctype html><title>Log in</title>")],
    ["answers a list of something else", "malformed", () => Response.json({ items: [{}, null, 7] })],
    ["answers a proxy's JSON", "malformed", () => Response.json({ status: "ok" })],
    ["answers two megabytes", "too_large", () => new Response(" ".repeat(2 ** 21))],
    [
      "breaks the connection in the middle",
      "unreachable",
      () =>
        new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode('{"items":['));
              controller.error(new TypeError("Connection lost"));
            },
          }),
        ),
    ],
  ];

  it("changes nothing, is named in the log, and is asked again", async () => {
    const livekit = aLiveKit();
    const { egress_id, said, read } = await aSilentEgress();
    const lines = logged();
    for (const [n, [fault, reason, answer]] of FAULTS.entries()) {
      livekit.answer = answer;
      passMinutes(11);
      await livekit.runCron();
      // As time passes, other tests' bulk invites are queued again, which is logged too.
      const told = lines().filter(({ event }) => event === "livekit_unavailable");
      expect([fault, ...told.slice(n)]).toEqual([fault, expect.objectContaining({ reason, egresses: 1 })]);
      expect(await read()).toMatchObject({ status: "egress_active" });
    }
    expect(livekit.asked).toHaveLength(FAULTS.length);
    livekit.answer = undefined;
    livekit.egress(egress_id, EGRESS_COMPLETE, said.ends());
    passMinutes(5);
    await livekit.runCron();
    expect(await read()).toMatchObject({ status: "egress_ended" });
  });

  it("that never answers is given up after five seconds for all egresses, and the other chores still run", async () => {
    const livekit = aLiveKit();
    const lines = logged();
    await insertSilentEgresses(50);
    livekit.answer = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    const clinic = await anOrganization();
    await env.DB.prepare(
      `insert into authorization_codes (organization_id, organization_user_id, code_digest, expires_at, created_at)
       values (?1, ?2, ?3, 0, 0)`,
    )
      .bind(clinic.id, clinic.admin.id, unique("digest"))
      .run();
    const limits = reachTimeouts();
    await livekit.runCron();
    expect(new Set(limits)).toEqual(new Set([5000]));
    expect(lines()).toMatchObject([{ event: "livekit_unavailable", reason: "timeout" }]);
    expect(livekit.asked.length).toBeLessThan(8);
    const { n } =
      (await env.DB.prepare("select count(*) n from authorization_codes where expires_at = 0").first()) ?? {};
    expect(n).toBe(0);
  });

  it("that is slow is not asked any more after a minute, and the next run continues with the other egresses", async () => {
    const livekit = aLiveKit();
    await insertSilentEgresses(40);
    livekit.answer = (_, egress_id) => {
      if (livekit.asked.length % 4 === 0) passMinutes(0.25);
      return livekit.own(egress_id);
    };
    await livekit.runCron();
    const first = livekit.asked.length;
    expect(first).toBeGreaterThan(12);
    expect(first).toBeLessThan(28);
    livekit.answer = undefined;
    await livekit.runCron();
    expect(new Set(livekit.asked).size).toBe(40);
    expect(livekit.asked).toHaveLength(40);
  });
});

describe("Many silent recordings", () => {
  it("are asked about in portions, a few at the same time, and all get their turn", async () => {
    const livekit = aLiveKit();
    const size = 2.5 * EGRESSES_CHECKED;
    const usual = await rowsReadForNothing();
    await insertSilentEgresses(size);
    const counting = countingRows();
    for (const asked of [EGRESSES_CHECKED, 2 * EGRESSES_CHECKED, size]) {
      const { rows_read } = await counting.during(() => livekit.runCron({ DB: counting.DB }));
      expect(livekit.asked).toHaveLength(asked);
      expect(rows_read - usual).toBeLessThan(20 * EGRESSES_CHECKED);
    }
    expect(new Set(livekit.asked).size).toBe(size);
    expect(livekit.busiest).toBeLessThanOrEqual(4);
  });

  it("all get their turn even if LiveKit always fails for the first ones", async () => {
    const livekit = aLiveKit();
    await insertSilentEgresses(30);
    livekit.answer = () => twirp.error(500, "internal");
    for (let run = 0; run < 8; run++) {
      await livekit.runCron();
      passMinutes(5);
    }
    expect(new Set(livekit.asked).size).toBe(30);
  });
});
