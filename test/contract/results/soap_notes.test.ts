import { describe, expect, it } from "vitest";
import { aCall, malformedPaths } from "../../worker/support/calls.ts";
import { expectRefusal } from "../../worker/support/expectations.ts";
import { given } from "../../worker/support/organization.ts";
import { aCallToNote, SOAP_TEXT } from "../../worker/support/soap_notes.ts";
import { changingNothing } from "../../worker/support/unchanged.ts";

describe("SOAP note", () => {
  it("id: integer, unique", async () => {
    const { clinic, call } = await aCallToNote();
    const note = { text: SOAP_TEXT, is_final: true };
    const [one, other] = [
      await given(call.reportSoapNote(note)),
      await given((await aCall(clinic)).reportSoapNote(note)),
    ];
    expect([one.id, other.id]).toEqual([expect.any(Number), expect.any(Number)]);
    expect(one.id).not.toBe(other.id);
  });

  it("text: string, full note; sections Subjective, Objective, Assessment, Plan", async () => {
    const { call, read } = await aCallToNote();
    await given(call.reportSoapNote({ text: SOAP_TEXT, is_final: true }));
    expect((await read()).body.text).toBe(SOAP_TEXT);
    for (const section of ["Subjective", "Objective", "Assessment", "Plan"])
      expect(SOAP_TEXT).toContain(`${section}: `);
  });

  it("is_final: boolean, true when finalized", async () => {
    const { call, read } = await aCallToNote();
    await given(call.reportSoapNote({ text: SOAP_TEXT, is_final: false }));
    expect((await read()).body.is_final).toBe(false);
    await given(call.reportSoapNote({ is_final: true }));
    expect((await read()).body.is_final).toBe(true);
  });
});

describe("GET /organization_users/{organization_user_id}/calls/{call_id}/soap_note", () => {
  it("Path: organization_user_id (integer), call_id (integer).", async () => {
    const { clinic, call } = await aCallToNote();
    await given(call.reportSoapNote({ text: SOAP_TEXT, is_final: true }));
    for (const path of malformedPaths(call))
      expectRefusal(await changingNothing(() => clinic.client.get(`${path}/soap_note`)), 404);
  });

  it("Response: SOAP note object.", async () => {
    const { call, read } = await aCallToNote();
    const reported = await call.reportSoapNote({ text: SOAP_TEXT, is_final: true });
    expect(reported.status).toBe(200);
    expect(reported.body).toEqual({ id: expect.any(Number), text: SOAP_TEXT, is_final: true });
    const { status, body } = await read();
    expect(status).toBe(200);
    expect(body).toEqual(reported.body);
  });
});
