import { describe, expect, it } from "vitest";
import { aCall, type Call, ENDED_AT, reportEgress } from "../support/calls.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { fromNow, travelTo } from "../support/time.ts";

const runCron = () => workerWith({}).runCron();

/** Lets minutes pass, and runs the cron. */
async function later(minutes: number) {
  travelTo(fromNow(minutes));
  await runCron();
}

async function announced({ client }: Organization): Promise<{ data: object; created_at: string }[]> {
  const { events } = await given(client.get("/events?type=call.results_ready"));
  return events;
}

const draft = { text: "Subjective: well.", is_final: false };
const note = { text: "Subjective: well.", is_final: true };

/** A call that has just ended, with what was reported of it before. */
async function anEndedCall(before: (call: Call) => Promise<unknown> = async () => {}) {
  const clinic = await anOrganization();
  const call = await aCall(clinic, { ended_at: null });
  await before(call);
  await given(call.report({ ended_at: ENDED_AT }));
  return {
    clinic,
    call,
    count: async () => (await announced(clinic)).length,
    recording: (egress_id: string, status: string) =>
      given(reportEgress(clinic, egress_id, { call_key: call.key, status })),
  };
}

describe("call.results_ready", () => {
  it("comes when a call has ended and its texts are final, with the ids of the call", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null });
    await given(call.reportSoapNote(note));
    await runCron();
    expect(await announced(clinic)).toEqual([]);
    await given(call.report({ ended_at: ENDED_AT }));
    await later(1);
    const now = new Date().toISOString();
    expect(await announced(clinic)).toMatchObject([
      { data: { organization_user_id: call.owner.id, call_id: call.id }, created_at: now },
    ]);
  });

  it("waits ten minutes for the first result of a call, and comes at once when that is final", async () => {
    const [silent, heard] = [await anEndedCall(), await anEndedCall()];
    await later(9);
    await given(heard.call.reportTranscript({ is_final: true, lines: [] }));
    await runCron();
    expect([await silent.count(), await heard.count()]).toEqual([0, 1]);
    await later(1);
    expect(await silent.count()).toBe(1);
  });

  it("waits until a draft is final, even if another text is", async () => {
    const { call, count } = await anEndedCall((started) => given(started.reportSoapNote(draft)));
    await given(call.reportTranscript({ is_final: true, lines: [] }));
    await later(40);
    expect(await count()).toBe(0);
    await given(call.reportSoapNote(note));
    await runCron();
    expect(await count()).toBe(1);
  });

  it.each(["egress_starting", "egress_active", "egress_ending"])(
    "waits until a recording with the status %s has ended",
    async (status) => {
      const { recording, count, call } = await anEndedCall((started) => given(started.reportSoapNote(note)));
      const egress_id = unique("egress");
      await recording(egress_id, status);
      await later(40);
      expect(await count()).toBe(0);
      await call.addEgress({ storage_key: null }, egress_id);
      await runCron();
      expect(await count()).toBe(1);
    },
  );

  it("waits for drafts and running recordings for an hour at most", async () => {
    const { call, recording, count } = await anEndedCall();
    await given(call.reportSoapNote(draft));
    await recording(unique("egress"), "egress_active");
    await later(59);
    expect(await count()).toBe(0);
    await later(1);
    expect(await count()).toBe(1);
    await given(call.reportSoapNote(note));
    await later(60);
    expect(await count()).toBe(1);
  });

  it("comes once, whatever is reported, corrected or deleted afterwards", async () => {
    const { clinic, call, count } = await anEndedCall();
    await given(call.reportSoapNote(note));
    await later(0);
    await given(call.report({ ended_at: "2026-01-31T10:10:00Z", failed: true }));
    await given(call.reportTranscript({ is_final: false, lines: [] }));
    await given(call.reportTranscript({ is_final: true, lines: [] }));
    await given(clinic.client.delete(`${call.path}/soap_note`));
    await later(120);
    expect(await count()).toBe(1);
  });

  it("counts from the report of the end, so that a late report leaves its results the same time", async () => {
    const clinic = await anOrganization();
    // The call ended long ago. All that is known of it arrives now.
    const call = await aCall(clinic);
    await given(call.reportSoapNote(draft));
    await later(15);
    expect(await announced(clinic)).toEqual([]);
    await given(call.reportSoapNote(note));
    await runCron();
    expect(await announced(clinic)).toHaveLength(1);
  });

  it("comes once if the end was assumed and is reported later", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null });
    await later(24 * 60 + 1);
    await given(call.report({ ended_at: ENDED_AT }));
    await later(10);
    await later(60);
    expect(await announced(clinic)).toHaveLength(1);
  });

  it("comes for each of many calls, and one organization's drafts do not delay another's", async () => {
    const busy = await anOrganization();
    const owner = await busy.addProvider();
    const drafts = await Promise.all(Array.from({ length: 12 }, () => aCall(busy, {}, owner)));
    await Promise.all(drafts.map((call) => given(call.reportSoapNote(draft))));
    const { count } = await anEndedCall((call) => given(call.reportSoapNote(note)));
    await later(1);
    expect([await count(), (await announced(busy)).length]).toEqual([1, 0]);
    await later(60);
    const ids = (await announced(busy)).map(({ data }) => (data as { call_id: number }).call_id);
    expect(ids.sort()).toEqual(drafts.map(({ id }) => id).sort());
  });
});
