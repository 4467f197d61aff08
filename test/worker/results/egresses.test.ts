import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { aCall, aRecipient, reportEgress } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import {
  aCallToRecord,
  anEndedEgress,
  aStartingEgress,
  egressesOf,
  expectHidden,
  expectShown,
} from "../support/egresses.ts";
import { aTimestamp, expectRefusal } from "../support/expectations.ts";
import { given, type Organization, unique } from "../support/organization.ts";
import { fromNow } from "../support/time.ts";
import { changingNothing, changingOnlyTheLog } from "../support/unchanged.ts";

const readEntries = async (clinic: Organization) =>
  (await storedRows(clinic, "egress_audit_logs")).filter(({ event }) => event === "read").length;

describe("PUT …/egresses/{egress_id}", () => {
  it("reports an ongoing recording by default", async () => {
    const { egress_id, reported, list } = await aStartingEgress();
    expect(reported).toEqual({
      id: expect.any(Number),
      egress_id,
      status: "egress_starting",
      error: null,
      is_stopped: false,
      ended_at: null,
      started_at: null,
      duration: null,
      size: null,
      created_at: aTimestamp,
      updated_at: reported.created_at,
    });
    expect(await list()).toMatchObject({ status: 200, body: { egresses: [reported] } });
  });

  it("adds the recording to the list of its own call, by id", async () => {
    const { clinic, call, list } = await aCallToRecord();
    const other = await aCall(clinic);
    const one = await call.addEgress({}, unique("z-egress"));
    const theirs = await other.addEgress();
    const two = await call.addEgress({}, unique("a-egress"));
    expect((await list()).body).toEqual({ egresses: [one, two] });
    expect((await egressesOf(clinic, other).list()).body).toEqual({ egresses: [theirs] });
  });
});

describe("A later PUT …/egresses/{egress_id}", () => {
  it("sets, keeps and clears started_at, duration and size, without an entry in the audit log", async () => {
    const { report, reported, get, list, audit } = await anEndedEgress();
    const file = { started_at: "2026-01-31T10:30:02.250+01:00", duration: 12.34567, size: 104_857_600 };
    const described = { started_at: "2026-01-31T09:30:02.250Z", duration: 12.346, size: 104_857_600 };
    const answer = await given(report(file));
    expect(answer).toEqual({ ...reported, ...described, updated_at: aTimestamp });
    await changingNothing(() => given(report(file)));
    await changingNothing(() => given(report({})));
    expect((await get(reported.id)).body).toMatchObject(described);
    expect((await list()).body.egresses).toEqual([answer]);
    const cleared = await given(report({ started_at: null, duration: null, size: null }));
    expect(cleared).toEqual({ ...reported, updated_at: aTimestamp });
    // The entry for the end of the recording.
    expect((await given(audit(reported.id, "?event=update"))).audit_logs).toHaveLength(1);
  });

  it.each([
    [{ started_at: "2099-01-31T09:30:00Z" }, /egress\.started_at: must not be more than 60 seconds/],
    [{ duration: -0.5 }, /egress\.duration: /],
    [{ duration: 31_622_401 }, /egress\.duration: /],
    [{ duration: "12" }, /egress\.duration: /],
    [{ size: -1 }, /egress\.size: /],
    [{ size: 1.5 }, /egress\.size: /],
  ])("refuses impossible fields of the file: %o", async (file, message) => {
    const { report } = await anEndedEgress();
    const { status, body } = await changingNothing(() => report(file));
    expect([status, body.error]).toEqual([422, expect.stringMatching(message)]);
  });
});

describe("PUT …/egresses/{egress_id} is refused, and changes nothing,", () => {
  const NOT_A_PATH = /egress\.storage_key: must be a path without empty, \. and \.\. segments/;
  const OF_NO_ORGANIZATION = /egress\.storage_key: must begin with the organization's slug and a slash/;

  it.each<[string, object, RegExp]>([
    ["a storage key with .. in it", { storage_key: "a/../../x.wav" }, NOT_A_PATH],
    [
      "a storage key of more than 1024 bytes",
      { storage_key: "ü".repeat(513) },
      /egress\.storage_key: must have at most/,
    ],
    ["a storage key without the organization's slug", { storage_key: "x.wav" }, OF_NO_ORGANIZATION],
  ])("with %s", async (_, fault, text) => {
    const { report } = await anEndedEgress();
    expectRefusal(await changingNothing(() => report({ error: "New.", ...fault })), 422, text);
    const { clinic, call } = await aCallToRecord();
    const first = { call_key: call.key, status: "egress_starting", ...fault };
    expectRefusal(await changingNothing(() => reportEgress(clinic, unique("egress"), first)), 422, text);
  });
});

describe("GET …/egresses and GET …/egresses/{id}", () => {
  it.each([
    ["was not asked", undefined],
    ["was asked, and has not answered", null],
    ["refused", false],
  ])(
    "hide recordings again when a participant is added who %s, until that participant consents",
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

  it("hide recordings again when a participant withdraws consent, but not their audit logs", async () => {
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

  it("hide recordings if a person from the waiting room joined without being asked", async () => {
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

describe("GET …/egresses/{id}", () => {
  it("returns a null URL while there is no file, and still writes a read entry", async () => {
    const { clinic, reported, get } = await aStartingEgress();
    expect((await get(reported.id)).body).toEqual({ ...reported, url: null });
    expect(await readEntries(clinic)).toBe(1);
  });

  it.each([
    ["visits/2026/übung (1)'s*!.wav", "visits/2026/%C3%BCbung%20%281%29%27s%2A%21.wav"],
    ["a..b/...wav", "a..b/...wav"],
    ["what?#now&then+%2e%2e/x.wav", "what%3F%23now%26then%2B%252e%252e/x.wav"],
    ["..\\..\\x.wav", "..%5C..%5Cx.wav"],
    ["https:/elsewhere.test", "https%3A/elsewhere.test"],
  ])("links to this file in this bucket, whatever its key: %s", async (name, encoded) => {
    const { clinic, report, reported, get } = await anEndedEgress();
    await given(report({ storage_key: `${clinic.slug}/${name}` }));
    const url = new URL((await get(reported.id)).body.url);
    expect(url.origin).toBe("https://service.test");
    expect(url.pathname).toBe(`/cdn-cgi/local/r2/s3/recordings/${clinic.slug}/${encoded}`);
    expect(url.hash).toBe("");
    expect([...url.searchParams.keys()]).toHaveLength(8);
  });

  it("is the only operation that writes read entries", async () => {
    const { clinic, end, report, reported, list, audit } = await anEndedEgress();
    await changingNothing(async () => {
      await given(list());
      await given(audit(reported.id));
      await given(report(end));
    });
    expect(await readEntries(clinic)).toBe(0);
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
