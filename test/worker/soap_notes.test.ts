import { describe, expect, it } from "vitest";
import { platform } from "./support/api.ts";
import { aCall } from "./support/calls.ts";
import { expectRefusal } from "./support/expectations.ts";
import { anOrganization, given } from "./support/organization.ts";
import { throughStrictDatabase } from "./support/strict_database.ts";
import { changingNothing, leavingNoRows } from "./support/unchanged.ts";

const TEXT = "Subjective: a cough.\nObjective: 37.2 °C.\n\nAssessment: a cold.\n  Plan: rest. ";

async function aCallToNote() {
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  return { clinic, call, read: () => clinic.client.get(`${call.path}/soap_note`) };
}

describe("A reported SOAP note", () => {
  it("is returned as it was sent", async () => {
    const { call, read } = await aCallToNote();
    const answer = await call.reportSoapNote({ text: TEXT, is_final: true });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ id: expect.any(Number), text: TEXT, is_final: true });
    const { status, body } = await read();
    expect(status).toBe(200);
    expect(body).toEqual(answer.body);
  });

  it("can have 200,000 characters of any kind", async () => {
    const { clinic, call, read } = await aCallToNote();
    leavingNoRows(clinic.id, "call_texts");
    const text = "🩺".repeat(200_000);
    expect((await call.reportSoapNote({ text, is_final: true })).status).toBe(200);
    expect((await read()).body.text === text).toBe(true);
  });

  it.each([
    ["🩺", 200_000],
    ["\u001b", 170_000],
  ])("may be changed however long it is: of %j %i", async (character, length) => {
    const { clinic, call, read } = await aCallToNote();
    leavingNoRows(clinic.id, "call_texts");
    const report = (soap_note: object) =>
      platform.through(throughStrictDatabase).put(`${call.url}/soap_note`, { soap_note });
    const text = `${character.repeat(length - 1)}A`;
    await given(report({ text, is_final: false }));
    await given(report({ text: text.replace("A", "B") }));
    await given(report({ is_final: true }));
    expect((await read()).body.text === text.replace("A", "B")).toBe(true);
  });
});

/** What each can mean in all cases, `test/unit/soap_notes.merge.test.ts` says. */
it("A later report of a SOAP note keeps what it leaves out, and changes nothing once the note is final", async () => {
  const { call, read } = await aCallToNote();
  let known = await given(call.reportSoapNote({ text: TEXT, is_final: false }));
  for (const change of [{}, { text: "Subjective: better." }, { is_final: true }]) {
    known = { ...known, ...change };
    expect(await given(call.reportSoapNote(change))).toEqual(known);
    expect(await changingNothing(() => given(call.reportSoapNote(change)))).toEqual(known);
    expect((await read()).body).toEqual(known);
  }
  for (const change of [{ text: `${known.text} ` }, { text: TEXT, is_final: false }])
    expectRefusal(await changingNothing(() => call.reportSoapNote(change)), 422, /final/);
  expect((await read()).body).toEqual(known);
});
