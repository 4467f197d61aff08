import { describe, expect, it } from "vitest";
import { aCall, type Call, ENDED_AT } from "./support/calls.ts";
import { expectRefusal } from "./support/expectations.ts";
import { anOrganization, given, type Organization } from "./support/organization.ts";
import { says } from "./support/transcripts.ts";
import { changingNothing, changingOnlyTheLog } from "./support/unchanged.ts";

/** What a call can have one of: how it is reported, with what, and what else the call can have. */
const TEXTS = {
  transcript: {
    send: (call: Call, report: object) => call.reportTranscript(report),
    reportOf: ({ participants: [paula] }: Call) => ({
      is_final: true,
      lines: [says(paula, 0, 1, paula.key)],
    }),
    other: (call: Call) => call.reportSoapNote({ is_final: true, text: "A cough." }),
  },
  soap_note: {
    send: (call: Call, report: object) => call.reportSoapNote(report),
    reportOf: ({ participants: [paula] }: Call) => ({ is_final: true, text: paula.key }),
    other: (call: Call) => call.reportTranscript({ is_final: true, lines: [] }),
  },
};

describe.each(Object.entries(TEXTS))("The %s of a call", (name, { send, reportOf, other }) => {
  const read = ({ client }: Organization, { path }: { path: string }) => client.get(`${path}/${name}`);

  it("is read where it was reported, and not before the call has ended, even if it is final", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: undefined });
    const reported = await given(send(call, reportOf(call)));
    expectRefusal(await read(clinic, call), 404);
    await given(call.report({ ended_at: ENDED_AT }));
    expect(await read(clinic, call)).toMatchObject({ status: 200, body: reported });
  });

  it("is that of its own call alone", async () => {
    const clinic = await anOrganization();
    const calls = [await aCall(clinic), await aCall(clinic)];
    for (const call of calls) await given(send(call, reportOf(call)));
    for (const call of calls) {
      const text = JSON.stringify((await read(clinic, call)).body);
      expect(calls.filter(({ participants: [{ key }] }) => text.includes(key))).toEqual([call]);
    }
  });

  it("follows a correction of who held the call", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const reported = await given(send(call, reportOf(call)));
    const { id } = await clinic.addProvider();
    await given(call.report({ organization_user_id: id }));
    expectRefusal(await read(clinic, call), 404);
    const moved = await read(clinic, { path: `/organization_users/${id}/calls/${call.id}` });
    expect(moved).toMatchObject({ status: 200, body: reported });
  });

  it("is read without a change, but for the access log", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    await given(send(call, reportOf(call)));
    await changingOnlyTheLog(() => given(read(clinic, call)));
  });

  it("needs every field in its first report, and is 404 while there is none, whatever else the call has", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    await given(other(call));
    const whole = reportOf(call);
    for (const field of Object.keys(whole)) {
      const refused = await changingNothing(() => send(call, { ...whole, [field]: undefined }));
      expectRefusal(refused, 422, new RegExp(field));
    }
    expectRefusal(await read(clinic, call), 404);
  });
});
