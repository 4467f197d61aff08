import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { aCall, aProviderOnTheCall, aRecipient, type Call, ENDED_AT, reportEgress } from "./support/calls.ts";
import { storedRows } from "./support/database.ts";
import { aTimestamp, expectRefusal } from "./support/expectations.ts";
import { anOrganization, given, type Organization, unique } from "./support/organization.ts";
import { fromNow, travelTo } from "./support/time.ts";
import { changingNothing, changingOnlyTheLog } from "./support/unchanged.ts";

const LATER = "2026-01-31T10:00:07.000Z";

/** An ended call of a clinic, to which everybody consented. */
async function aCallToRecord(call: object = {}) {
  const clinic = await anOrganization();
  const recorded = await aCall(clinic, call);
  return { clinic, call: recorded, ...egressesOf(clinic, recorded) };
}

const egressesOf = ({ client }: Organization, { path }: Call) => ({
  list: () => client.get(`${path}/egresses`),
  get: (id: number | string) => client.get(`${path}/egresses/${id}`),
  audit: (id: number | string, query = "") => client.get(`${path}/egresses/${id}/audit_logs${query}`),
});

/** A recording that has just started: there is no file yet. */
async function aStartingEgress() {
  const scene = await aCallToRecord();
  const egress_id = unique("egress");
  const first = { call_key: scene.call.key, status: "egress_starting" };
  const reported = await given(reportEgress(scene.clinic, egress_id, first));
  const report = (egress: object) => reportEgress(scene.clinic, egress_id, egress);
  return { ...scene, egress_id, first, reported, report };
}

async function anEndedEgress() {
  const scene = await aStartingEgress();
  const { clinic, egress_id } = scene;
  const end = {
    status: "egress_ended",
    is_stopped: true,
    ended_at: ENDED_AT,
    storage_key: `${clinic.slug}/${egress_id}.wav`,
  };
  return { ...scene, end, reported: await given(scene.report(end)) };
}

const readEntries = async (clinic: Organization) =>
  (await storedRows(clinic, "egress_audit_logs")).filter(({ event }) => event === "read").length;

describe("A reported egress", () => {
  it("is going on by default", async () => {
    const { egress_id, reported, list } = await aStartingEgress();
    expect(reported).toEqual({
      id: expect.any(Number),
      egress_id,
      status: "egress_starting",
      error: null,
      is_stopped: false,
      ended_at: null,
      created_at: aTimestamp,
      updated_at: reported.created_at,
    });
    expect(await list()).toMatchObject({ status: 200, body: { egresses: [reported] } });
  });

  it("is listed with all that was reported, but neither the storage key nor a URL", async () => {
    const { clinic, call, list } = await aCallToRecord();
    const egress_id = unique("egress");
    const answer = await reportEgress(clinic, egress_id, {
      call_key: call.key,
      status: "egress_ended",
      is_stopped: true,
      error: "The disk\nwas full.",
      ended_at: "2026-01-31T11:00:07+01:00",
      storage_key: `${clinic.slug}/secret/place.wav`,
    });
    expect(answer.body).toEqual({
      id: expect.any(Number),
      egress_id,
      status: "egress_ended",
      error: "The disk\nwas full.",
      is_stopped: true,
      ended_at: LATER,
      created_at: aTimestamp,
      updated_at: aTimestamp,
    });
    const listed = await list();
    expect(listed.body).toEqual({ egresses: [answer.body] });
  });

  it("is listed only with the others of its call, by id", async () => {
    const { clinic, call, list } = await aCallToRecord();
    const other = await aCall(clinic);
    const one = await call.addEgress({}, unique("z-egress"));
    const theirs = await other.addEgress();
    const two = await call.addEgress({}, unique("a-egress"));
    expect((await list()).body).toEqual({ egresses: [one, two] });
    expect((await egressesOf(clinic, other).list()).body).toEqual({ egresses: [theirs] });
  });
});

describe("A later report of an egress", () => {
  it("changes nothing if it repeats the first or is empty", async () => {
    const { first, report, reported } = await aStartingEgress();
    for (const again of [first, {}, { ...first, is_stopped: null, error: null, ended_at: null }]) {
      const answer = await changingNothing(() => report(again));
      expect(answer).toMatchObject({ status: 200, body: reported });
    }
  });

  it("keeps the fields that it leaves out", async () => {
    const { report, reported, get } = await anEndedEgress();
    travelTo("2027-01-31T09:30:00.000Z");
    const answer = await report({ error: "The disk was full." });
    expect(answer.body).toEqual({
      ...reported,
      error: "The disk was full.",
      updated_at: "2027-01-31T09:30:00.000Z",
    });
    expect((await get(reported.id)).body.url).toContain(`/${reported.egress_id}.wav`);
  });

  it("clears an error, a wrong end and the storage key with null", async () => {
    const { clinic, report, reported, get } = await aStartingEgress();
    const storage_key = `${clinic.slug}/somewhere.wav`;
    await given(report({ error: "A hiccup.", ended_at: ENDED_AT, storage_key }));
    expect((await get(reported.id)).body.url).toContain(storage_key);
    const cleared = await given(report({ error: null, ended_at: null, storage_key: null }));
    expect(cleared).toEqual({ ...reported, updated_at: aTimestamp });
    expect((await get(reported.id)).body.url).toBeNull();
  });

  it("of the end stops it, and gives it the time of the report where it names none", async () => {
    const { report, reported } = await aStartingEgress();
    travelTo("2027-01-31T09:30:00.000Z");
    const end = { status: "egress_ended", is_stopped: false, ended_at: null };
    const ended = {
      ...reported,
      status: "egress_ended",
      is_stopped: true,
      ended_at: "2027-01-31T09:30:00.000Z",
    };
    expect(await given(report(end))).toEqual({ ...ended, updated_at: "2027-01-31T09:30:00.000Z" });
    await changingNothing(() => given(report(end)));
  });

  it("keeps an end that is reported before it until then, and shows none before", async () => {
    const { report, reported, list, audit } = await aStartingEgress();
    for (const status of ["egress_active", "egress_ending"])
      expect(await given(report({ status, ended_at: ENDED_AT }))).toMatchObject({ status, ended_at: null });
    expect((await list()).body.egresses).toMatchObject([{ status: "egress_ending", ended_at: null }]);
    expect(await given(report({ status: "egress_ended" }))).toMatchObject({ ended_at: ENDED_AT });
    const { audit_logs } = await given(audit(reported.id, "?event=update"));
    expect(
      audit_logs.map(({ object_changes }: { object_changes: object }) => Object.keys(object_changes)),
    ).toEqual([["status", "is_stopped", "ended_at"], ["status"], ["status"]]);
  });

  it("forgets with null an end that was reported before it", async () => {
    const { report } = await aStartingEgress();
    await given(report({ ended_at: ENDED_AT }));
    await given(report({ ended_at: null }));
    travelTo("2027-01-31T09:30:00.000Z");
    expect(await given(report({ status: "egress_ended" }))).toMatchObject({
      ended_at: "2027-01-31T09:30:00.000Z",
    });
  });

  it("that comes late fills in the storage key and the error, and nothing else", async () => {
    const { clinic, first, report, reported, get } = await aStartingEgress();
    const ended = await given(report({ status: "egress_ended", ended_at: ENDED_AT }));
    const late = { ...first, is_stopped: false, ended_at: LATER };
    await changingNothing(() => given(report(late)));
    const [storage_key, other] = [`${clinic.slug}/late.wav`, `${clinic.slug}/other.wav`];
    const filled = await given(report({ ...late, error: "Lost.", storage_key }));
    expect(filled).toEqual({ ...ended, error: "Lost.", updated_at: aTimestamp });
    await changingNothing(() => given(report({ ...late, error: "Other.", storage_key: other })));
    expect((await get(reported.id)).body.url).toContain(storage_key);
  });

  it("corrects when an ended one ended", async () => {
    const { report, reported } = await anEndedEgress();
    expect((await report({ ended_at: LATER })).body).toEqual({
      ...reported,
      ended_at: LATER,
      updated_at: aTimestamp,
    });
  });
});

describe("A report of an egress is refused, and changes nothing,", () => {
  const NOT_A_PATH = /egress\.storage_key: must be a path without empty, \. and \.\. segments/;
  const OF_NO_ORGANIZATION = /egress\.storage_key: must begin with the organization's slug and a slash/;

  it.each<[string, object, RegExp]>([
    ["a storage key with .. in it", { storage_key: "a/../../x.wav" }, NOT_A_PATH],
    [
      "a storage key of more than 1024 bytes",
      { storage_key: "ü".repeat(513) },
      /egress\.storage_key: must have at most/,
    ],
    ["a storage key of no organization", { storage_key: "x.wav" }, OF_NO_ORGANIZATION],
  ])("with %s", async (_, fault, text) => {
    const { report } = await anEndedEgress();
    expectRefusal(await changingNothing(() => report({ error: "New.", ...fault })), 422, text);
    const { clinic, call } = await aCallToRecord();
    const first = { call_key: call.key, status: "egress_starting", ...fault };
    expectRefusal(await changingNothing(() => reportEgress(clinic, unique("egress"), first)), 422, text);
  });

  it.each(["call_key", "status"])("without %s in the first report", async (field) => {
    const { clinic, call, list } = await aCallToRecord();
    const lacking = { call_key: call.key, status: "egress_starting", [field]: undefined };
    const refused = await changingNothing(() => reportEgress(clinic, unique("egress"), lacking));
    expectRefusal(refused, 422, new RegExp(field));
    expect((await list()).body).toEqual({ egresses: [] });
  });
});

describe("The recordings of a call", () => {
  const consents = (...all: (boolean | null | undefined)[]) => ({
    participants: all.map((recording_consent, n) =>
      n === 0 ? aProviderOnTheCall({ recording_consent }) : aRecipient({ recording_consent }),
    ),
  });

  async function expectHidden({ list, get }: ReturnType<typeof egressesOf>, id: number) {
    await changingNothing(async () => {
      const listed = await list();
      expect(listed.body).toEqual({ egresses: [] });
      expectRefusal(await get(id), 404);
    });
  }

  async function expectShown({ list, get, audit }: ReturnType<typeof egressesOf>, id: number) {
    expect((await list()).body.egresses).toMatchObject([{ id }]);
    expect((await get(id)).status).toBe(200);
    expect((await audit(id)).status).toBe(200);
  }

  it.each([
    ["one", consents(true)],
    ["two", consents(true, true)],
    ["five", consents(true, true, true, true, true)],
  ])("are shown if all participants consented, %s of them", async (_, call) => {
    const scene = await aCallToRecord(call);
    await expectShown(scene, (await scene.call.addEgress()).id);
  });

  it.each([
    ["had no participants", consents()],
    ["had one participant who refused", consents(true, false)],
    ["had one participant who was not asked", consents(true, undefined)],
    ["had one participant whose answer is unknown", consents(null, true)],
    ["had one refusal among many", consents(true, true, false, true)],
    ["had nobody who consented", consents(false, false)],
    ["failed, and had one who refused", { ...consents(false, true), failed: true }],
  ])("are hidden, but for their audit logs, and reading writes no entry, if the call %s", async (_, call) => {
    const scene = await aCallToRecord(call);
    const { id } = await scene.call.addEgress();
    await expectHidden(scene, id);
    expect((await given(scene.audit(id))).audit_logs).toMatchObject([{ event: "create" }]);
  });

  it.each([
    ["everybody consented", consents(true, true), 1],
    ["somebody refused", consents(true, false), 0],
    ["nobody is on it", consents(), 0],
  ])("are hidden with their audit logs until the call ends, where %s", async (_, call, shown) => {
    const scene = await aCallToRecord({ ...call, ended_at: undefined });
    const { id } = await scene.call.addEgress();
    await expectHidden(scene, id);
    expectRefusal(await scene.audit(id), 404);
    await given(scene.call.report({ ended_at: ENDED_AT }));
    expect((await scene.audit(id)).status).toBe(200);
    expect((await scene.list()).body.egresses).toHaveLength(shown);
  });

  it.each([
    ["was not asked", undefined],
    ["was asked, and has not answered", null],
    ["refused", false],
  ])(
    "are hidden again when a participant is added who %s, until this participant consents",
    async (_, consent) => {
      const scene = await aCallToRecord();
      const { id } = await scene.call.addEgress();
      await expectShown(scene, id);
      const late = aRecipient({ recording_consent: consent });
      await given(scene.call.report({ participants: [late] }));
      await expectHidden(scene, id);
      const decided = { recording_consent: true, recording_consent_at: fromNow(1) };
      await given(scene.call.report({ participants: [{ key: late.key, ...decided }] }));
      await expectShown(scene, id);
    },
  );

  it("are hidden again when a participant withdraws consent, but not who saw them", async () => {
    const scene = await aCallToRecord();
    const { id } = await scene.call.addEgress();
    await given(scene.get(id));
    const before = (await given(scene.audit(id))).audit_logs;
    expect(before).toMatchObject([{ event: "read" }, { event: "create" }]);
    const [, rita] = scene.call.participants;
    await given(scene.call.report({ participants: [{ key: rita.key, recording_consent: false }] }));
    await expectHidden(scene, id);
    expect((await given(scene.audit(id))).audit_logs).toEqual(before);
    // A repeated report brings nothing back.
    await given(scene.call.report({ participants: scene.call.participants }));
    await expectHidden(scene, id);
  });

  it("stay visible when a later report says nothing about consent", async () => {
    const scene = await aCallToRecord();
    const { id } = await scene.call.addEgress();
    const [, { key }] = scene.call.participants;
    await given(scene.call.report({ participants: [{ key, display_name: "Rita Renamed" }] }));
    await expectShown(scene, id);
  });

  it("are hidden if a person from the waiting room joined without being asked", async () => {
    const scene = await aCallToRecord();
    const { id } = await scene.call.addEgress();
    const key = unique("rita");
    const visit = { waiting_since: "2026-01-31T09:00:00Z", left_at: "2026-01-31T09:10:00Z" };
    await scene.clinic.addParticipant(scene.call.room.slug, visit, key);
    await expectShown(scene, id);
    await given(scene.call.report({ participants: [{ key }] }));
    await expectHidden(scene, id);
  });
});

describe("Getting an egress", () => {
  it("returns the same as the list, plus a URL", async () => {
    const { reported, get } = await anEndedEgress();
    expect((await get(reported.id)).body).toEqual({ ...reported, url: expect.any(String) });
  });

  it("returns a null URL while there is no file, and still counts as a read", async () => {
    const { clinic, reported, get } = await aStartingEgress();
    expect((await get(reported.id)).body).toEqual({ ...reported, url: null });
    expect(await readEntries(clinic)).toBe(1);
  });

  it("presigns a GET of the file for 15 minutes, as a download, with the id of the read entry", async () => {
    const { clinic, reported, get, audit } = await anEndedEgress();
    travelTo("2026-01-31T12:34:56.789Z");
    const { body } = await get(reported.id);
    const url = new URL(body.url);
    expect(url.origin).toBe("https://service.test");
    expect(url.pathname).toBe(`/cdn-cgi/local/r2/s3/recordings/${clinic.slug}/${reported.egress_id}.wav`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Credential": "local-access-key/20260131/auto/s3/aws4_request",
      "X-Amz-Date": "20260131T123456Z",
      "X-Amz-Expires": "900",
      "X-Amz-SignedHeaders": "host",
      "X-Amz-Signature": expect.stringMatching(/^[0-9a-f]{64}$/),
      "response-content-disposition": "attachment",
      "x-audit-log-id": String((await given(audit(reported.id, "?event=read"))).audit_logs[0].id),
    });
    expect(body.url).not.toContain("local-secret-key");
  });

  it("returns a new URL each time, even at the same moment, and each leads back to its read entry", async () => {
    const { reported, get, audit } = await anEndedEgress();
    travelTo("2026-01-31T12:34:56.000Z");
    const urls: URL[] = [];
    for (let n = 0; n < 3; n++) urls.push(new URL((await given(get(reported.id))).url));
    travelTo("2026-01-31T12:34:57.000Z");
    urls.push(new URL((await given(get(reported.id))).url));
    const values = (name: string) => urls.map(({ searchParams }) => searchParams.get(name));
    expect(values("X-Amz-Date")).toEqual([...Array(3).fill("20260131T123456Z"), "20260131T123457Z"]);
    expect(new Set(values("X-Amz-Signature")).size).toBe(4);
    const reads = (await given(audit(reported.id, "?event=read"))).audit_logs;
    expect(values("x-audit-log-id")).toEqual(reads.map(({ id }: { id: number }) => String(id)).reverse());
  });

  it.each([
    ["visits/2026/übung (1)'s*!.wav", "visits/2026/%C3%BCbung%20%281%29%27s%2A%21.wav"],
    ["a..b/...wav", "a..b/...wav"],
    ["what?#now&then+%2e%2e/x.wav", "what%3F%23now%26then%2B%252e%252e/x.wav"],
    ["..\\..\\x.wav", "..%5C..%5Cx.wav"],
    ["https:/elsewhere.test", "https%3A/elsewhere.test"],
  ])("leads to the file, and never into another bucket, with any key: %s", async (name, encoded) => {
    const { clinic, report, reported, get } = await anEndedEgress();
    await given(report({ storage_key: `${clinic.slug}/${name}` }));
    const url = new URL((await get(reported.id)).body.url);
    expect(url.origin).toBe("https://service.test");
    expect(url.pathname).toBe(`/cdn-cgi/local/r2/s3/recordings/${clinic.slug}/${encoded}`);
    expect(url.hash).toBe("");
    expect([...url.searchParams.keys()]).toHaveLength(8);
  });

  it("changes nothing else: listing, reading the audit logs and repeating reports are not reads", async () => {
    const { clinic, end, report, reported, list, audit } = await anEndedEgress();
    await changingNothing(async () => {
      await given(list());
      await given(audit(reported.id));
      await given(report(end));
    });
    expect(await readEntries(clinic)).toBe(0);
  });

  it("writes exactly twenty entries for twenty reads at once", async () => {
    const { clinic, reported, get, audit } = await anEndedEgress();
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(reported.id)));
    for (const { body } of answers) {
      expect(body).toEqual({ ...reported, url: expect.any(String) });
    }
    expect(new Set(answers.map(({ body }) => body.url)).size).toBe(20);
    expect(await readEntries(clinic)).toBe(20);
    expect((await audit(reported.id)).body.pagination.total_count).toBe(22);
  });

  it.each([
    ["is refused by the database", "abort, 'no room for entries'"],
    ["is lost without an error", "ignore"],
  ])("returns no URL if its entry %s", async (_, raise) => {
    const { reported, get } = await anEndedEgress();
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(async () => {
      logged.mockRestore();
      await env.DB.prepare("drop trigger no_reads").run();
    });
    await env.DB.prepare(
      `create trigger no_reads before insert on egress_audit_logs when new.event = 'read'
      begin select raise(${raise}); end`,
    ).run();
    expectRefusal(await changingOnlyTheLog(() => get(reported.id)), 500, "Internal server error");
    expect(logged).toHaveBeenCalledOnce();
    expect(JSON.stringify(logged.mock.calls)).not.toMatch(/X-Amz|\.wav/);
  });
});
