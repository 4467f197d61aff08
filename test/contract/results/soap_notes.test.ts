import { describe, expect, it } from "vitest";
import { malformedPaths } from "../../worker/support/calls.ts";
import { expectRefusal } from "../../worker/support/expectations.ts";
import { given } from "../../worker/support/organization.ts";
import { aCallToNote, SOAP_TEXT } from "../../worker/support/soap_notes.ts";
import { changingNothing } from "../../worker/support/unchanged.ts";

describe("GET /organization_users/{organization_user_id}/calls/{call_id}/soap_note", () => {
  it("Path: organization_user_id (integer), call_id (integer).", async () => {
    const { clinic, call } = await aCallToNote();
    await given(call.reportSoapNote({ text: SOAP_TEXT, is_final: true }));
    for (const path of malformedPaths(call))
      expectRefusal(await changingNothing(() => clinic.client.get(`${path}/soap_note`)), 404);
  });

  it("Response: SOAP note object.", async () => {
    const { call, read } = await aCallToNote();
    const reported = await given(call.reportSoapNote({ text: SOAP_TEXT, is_final: true }));
    expect(reported).toEqual({ id: expect.any(Number), text: SOAP_TEXT, is_final: true });
    expect(await read()).toMatchObject({ status: 200, body: reported });
  });
});
