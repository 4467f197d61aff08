import { describe, expect, it } from "vitest";
import { aCall, type Call, ENDED_AT } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { says } from "../support/transcripts.ts";

/** For each kind of text: how to report it, and a complete report. */
const TEXTS = {
  transcript: {
    send: (call: Call, report: object) => call.reportTranscript(report),
    reportOf: ({ participants: [paula] }: Call) => ({
      is_final: true,
      lines: [says(paula, 0, 1, paula.key)],
    }),
  },
  soap_note: {
    send: (call: Call, report: object) => call.reportSoapNote(report),
    reportOf: ({ participants: [paula] }: Call) => ({ is_final: true, text: paula.key }),
  },
};

describe.each(Object.entries(TEXTS))("GET …/calls/{call_id}/%s", (name, { send, reportOf }) => {
  const read = ({ client }: Organization, { path }: { path: string }) => client.get(`${path}/${name}`);

  it("returns the reported text once the call has ended, even if it was final before", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: undefined });
    const reported = await given(send(call, reportOf(call)));
    expectRefusal(await read(clinic, call), 404);
    await given(call.report({ ended_at: ENDED_AT }));
    expect(await read(clinic, call)).toMatchObject({ status: 200, body: reported });
  });

  it("follows a correction of the call's owner", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const reported = await given(send(call, reportOf(call)));
    const { id } = await clinic.addProvider();
    await given(call.report({ organization_user_id: id }));
    expectRefusal(await read(clinic, call), 404);
    const moved = await read(clinic, { path: `/organization_users/${id}/calls/${call.id}` });
    expect(moved).toMatchObject({ status: 200, body: reported });
  });
});
