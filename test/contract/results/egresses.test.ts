import { describe, expect, it } from "vitest";
import {
  aProviderOnTheCall,
  aRecipient,
  ENDED_AT,
  malformedPaths,
  reportEgress,
} from "../../worker/support/calls.ts";
import { aCallToRecord, anEndedEgress, expectHidden, expectShown } from "../../worker/support/egresses.ts";
import { aTimestamp, expectRefusal } from "../../worker/support/expectations.ts";
import { given, unique } from "../../worker/support/organization.ts";
import { travelTo } from "../../worker/support/time.ts";
import { changingNothing } from "../../worker/support/unchanged.ts";

const LATER = "2026-01-31T10:00:07.000Z";

/** The participants of a call with these answers. The first one is a provider. */
const consents = (...all: (boolean | null | undefined)[]) => ({
  participants: all.map((recording_consent, n) =>
    n === 0 ? aProviderOnTheCall({ recording_consent }) : aRecipient({ recording_consent }),
  ),
});

describe("GET /organization_users/{organization_user_id}/calls/{call_id}/egresses", () => {
  it("Response: {egresses: [egress without url]}", async () => {
    const { clinic, call, list } = await aCallToRecord();
    const egress_id = unique("egress");
    const reported = await reportEgress(clinic, egress_id, {
      call_key: call.key,
      status: "egress_ended",
      is_stopped: true,
      error: "The disk\nwas full.",
      ended_at: "2026-01-31T11:00:07+01:00",
      storage_key: `${clinic.slug}/secret/place.wav`,
    });
    expect(reported.body).toEqual({
      id: expect.any(Number),
      egress_id,
      status: "egress_ended",
      error: "The disk\nwas full.",
      is_stopped: true,
      ended_at: LATER,
      started_at: null,
      duration: null,
      size: null,
      created_at: aTimestamp,
      updated_at: aTimestamp,
    });
    const listed = await list();
    expect(listed.body).toEqual({ egresses: [reported.body] });
  });
});

describe("GET /organization_users/{organization_user_id}/calls/{call_id}/egresses/{id}", () => {
  it("Response: egress object including url", async () => {
    const { reported, get } = await anEndedEgress();
    expect((await get(reported.id)).body).toEqual({ ...reported, url: expect.any(String) });
  });
});

describe("Egresses", () => {
  it("Path ids are all integers (organization_user_id, call_id, id, egress_id).", async () => {
    const { clinic, call, reported, get, audit } = await anEndedEgress();
    await changingNothing(async () => {
      for (const path of malformedPaths(call))
        for (const below of ["", `/${reported.id}`, `/${reported.id}/audit_logs`])
          expectRefusal(await clinic.client.get(`${path}/egresses${below}`), 404);
      for (const id of [reported.egress_id, `${reported.id}.0`, "x"])
        for (const answer of [await get(id), await audit(id)]) expectRefusal(answer, 404);
    });
  });

  describe("1. List returns an empty array when the call's participants did not all consent to recording", () => {
    it("(it returns the recordings if all consented)", async () => {
      const scene = await aCallToRecord(consents(true, true));
      await expectShown(scene, (await scene.call.addEgress()).id);
    });

    it.each([
      ["had no participants", consents()],
      ["had one participant who refused", consents(true, false)],
      ["had one participant who was not asked", consents(true, undefined)],
      ["had one participant whose answer is unknown", consents(null, true)],
      ["failed, and had one who refused", { ...consents(false, true), failed: true }],
    ])("if the call %s; audit logs stay visible, and no read entry is written", async (_, call) => {
      const scene = await aCallToRecord(call);
      const { id } = await scene.call.addEgress();
      await expectHidden(scene, id);
      expect((await given(scene.audit(id))).audit_logs).toMatchObject([{ event: "create" }]);
    });
  });

  it.each([
    ["everybody consented", consents(true, true), 1],
    ["somebody refused", consents(true, false), 0],
    ["nobody is on the call", consents(), 0],
  ])("2. Egresses exist only for ended calls (is_ended true), if %s.", async (_, call, shown) => {
    const scene = await aCallToRecord({ ...call, ended_at: undefined });
    const { id } = await scene.call.addEgress();
    await expectHidden(scene, id);
    expectRefusal(await scene.audit(id), 404);
    await given(scene.call.report({ ended_at: ENDED_AT }));
    expect((await scene.audit(id)).status).toBe(200);
    expect((await scene.list()).body.egresses).toHaveLength(shown);
  });

  it("3. Each call to the single-egress endpoint writes a read audit entry.", async () => {
    const { reported, get, audit } = await anEndedEgress();
    for (const reads of [1, 2, 3]) {
      await given(get(reported.id));
      expect((await given(audit(reported.id, "?event=read"))).audit_logs).toHaveLength(reads);
    }
  });

  it("4. The url is a presigned download link that expires after 15 minutes;", async () => {
    const { clinic, reported, get, audit } = await anEndedEgress();
    travelTo("2026-01-31T12:34:56.789Z");
    const { body } = await get(reported.id);
    const url = new URL(body.url);
    expect(url.origin + url.pathname).toBe(
      `https://service.test/cdn-cgi/local/r2/s3/recordings/${clinic.slug}/${reported.egress_id}.wav`,
    );
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

  it("calling the endpoint again gives a new one.", async () => {
    const { reported, get, audit } = await anEndedEgress();
    const urls: URL[] = [];
    // The URLs differ even at the same moment.
    for (const second of [56, 56, 57]) {
      travelTo(`2026-01-31T12:34:${second}.000Z`);
      urls.push(new URL((await given(get(reported.id))).url));
    }
    const values = (name: string) => urls.map(({ searchParams }) => searchParams.get(name));
    expect(values("X-Amz-Date")).toEqual(["20260131T123456Z", "20260131T123456Z", "20260131T123457Z"]);
    expect(new Set(values("X-Amz-Signature")).size).toBe(3);
    const reads = (await given(audit(reported.id, "?event=read"))).audit_logs;
    expect(values("x-audit-log-id")).toEqual(reads.map(({ id }: { id: number }) => String(id)).reverse());
  });

  // 5. is in egress_audit_logs.test.ts.
});
