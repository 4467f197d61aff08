import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, type Call, ENDED_AT, STARTED_AT } from "../support/calls.ts";
import { rowsOf } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

const read = (clinic: Organization, call: Call) => given(clinic.client.get(call.path));

const refer = (clinic: Organization, call: Call, external_reference: unknown) =>
  clinic.client.put(call.path, { call: { external_reference } });

describe("GET …/calls/{call_id}", () => {
  it("returns the call's owner, how it ended, and which results it has", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { external_reference: "visit-1", failed: true });
    expect(await clinic.client.get(call.path)).toMatchObject({
      status: 200,
      body: {
        id: call.id,
        organization_user_id: call.owner.id,
        waiting_room_id: call.room.id,
        external_reference: "visit-1",
        is_ended: true,
        ended_by: "reported",
        failed: true,
        started_at: STARTED_AT,
        ended_at: ENDED_AT,
        results: { transcript: "none", soap_note: "none", egresses: 0 },
      },
    });
  });

  it("works while the call is going on", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null });
    expect(await read(clinic, call)).toMatchObject({ is_ended: false, ended_by: null, ended_at: null });
  });

  it("returns a text as pending until it is final and the call has ended", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null });
    const results = async () => (await read(clinic, call)).results;
    await given(call.reportTranscript({ is_final: true, lines: [] }));
    await given(call.reportSoapNote({ is_final: false, text: "Well." }));
    expect(await results()).toMatchObject({ transcript: "pending", soap_note: "pending" });
    await given(call.report({ ended_at: ENDED_AT }));
    expect(await results()).toMatchObject({ transcript: "ready", soap_note: "pending" });
    await given(call.reportSoapNote({ is_final: true, text: "Well." }));
    expect(await results()).toMatchObject({ transcript: "ready", soap_note: "ready" });
    await given(platform.delete(`${call.url}/transcript`));
    await given(platform.delete(`${call.url}/soap_note`));
    expect(await results()).toMatchObject({ transcript: "none", soap_note: "none" });
  });

  it("counts the listed recordings, including deleted ones, and none without consent", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null });
    const egress_id = (await call.addEgress()).egress_id;
    await call.addEgress();
    const expectListed = async (count: number) => {
      const { egresses } = await given(clinic.client.get(`${call.path}/egresses`));
      expect([egresses.length, (await read(clinic, call)).results.egresses]).toEqual([count, count]);
    };
    await expectListed(0);
    await given(call.report({ ended_at: ENDED_AT }));
    await expectListed(2);
    await given(clinic.platform.delete(`/egresses/${egress_id}`));
    await expectListed(2);
    const [{ key }] = call.participants;
    await given(call.report({ participants: [{ key, recording_consent: false }] }));
    await expectListed(0);
  });
});

describe("PUT …/calls/{call_id}", () => {
  it("sets, keeps, replaces and clears external_reference", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null });
    const before = await read(clinic, call);
    const set = await refer(clinic, call, "visit-1");
    expect(set).toMatchObject({ status: 200, body: { ...before, external_reference: "visit-1" } });
    for (const nothing of [{}, { external_reference: "visit-1" }, set.body])
      expect(
        (await changingNothing(() => given(clinic.client.put(call.path, { call: nothing }))))
          .external_reference,
      ).toBe("visit-1");
    expect((await given(refer(clinic, call, "visit-2"))).external_reference).toBe("visit-2");
    expect((await given(refer(clinic, call, null))).external_reference).toBeNull();
    expect(await read(clinic, call)).toEqual(before);
  });

  it("sets or clears the reference for the platform too, whose reports no longer change it", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { external_reference: "visit-1" });
    await given(refer(clinic, call, "visit-2"));
    expect((await given(call.report({ failed: true }))).external_reference).toBe("visit-2");
    await given(call.report({ external_reference: "visit-3" }));
    expect((await read(clinic, call)).external_reference).toBe("visit-2");
    await given(refer(clinic, call, null));
    await given(call.report({ external_reference: "visit-1" }));
    expect((await read(clinic, call)).external_reference).toBeNull();
  });

  it("cannot set a reference that was erased, and clearing it changes nothing", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { external_reference: "rita-2026" });
    await env.DB.prepare("update participants set erased_at = 1 where organization_id = ?")
      .bind(clinic.id)
      .run();
    expectRefusal(
      await changingNothing(() => refer(clinic, call, "rita-2026")),
      422,
      /^call\.external_reference: was erased/,
    );
    expect((await changingNothing(() => given(refer(clinic, call, null)))).external_reference).toBeNull();
  });

  it("writes the reference into no event", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { external_reference: "rita-2026" });
    await given(refer(clinic, call, "rita-2027"));
    const events = (await rowsOf(clinic.id)).find(({ name }) => name === "events")?.rows;
    expect(events?.length).toBeGreaterThan(0);
    expect(JSON.stringify(events)).not.toMatch(/rita/);
  });
});
