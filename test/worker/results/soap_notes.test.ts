import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { expectRefusal } from "../support/expectations.ts";
import { given } from "../support/organization.ts";
import { aCallToNote, SOAP_TEXT } from "../support/soap_notes.ts";
import { throughStrictDatabase } from "../support/strict_database.ts";
import { changingNothing, leavingNoRows } from "../support/unchanged.ts";

describe("PUT …/calls/{key}/soap_note", () => {
  it("accepts 200,000 characters of any kind", async () => {
    const { clinic, call, read } = await aCallToNote();
    leavingNoRows(clinic.id, "call_texts");
    const text = "🩺".repeat(200_000);
    expect((await call.reportSoapNote({ text, is_final: true })).status).toBe(200);
    expect((await read()).body.text === text).toBe(true);
  });

  it.each([
    ["🩺", 200_000],
    ["\u001b", 170_000],
  ])("can change even the longest note: %j, %i times", async (character, length) => {
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

/** `test/unit/results/soap_notes.merge.test.ts` covers all cases of a merge. */
it("A later PUT …/calls/{key}/soap_note keeps the fields that it leaves out, and cannot change a final note", async () => {
  const { call, read } = await aCallToNote();
  let known = await given(call.reportSoapNote({ text: SOAP_TEXT, is_final: false }));
  for (const change of [{}, { text: "Subjective: better." }, { is_final: true }]) {
    known = { ...known, ...change };
    expect(await given(call.reportSoapNote(change))).toEqual(known);
    expect(await changingNothing(() => given(call.reportSoapNote(change)))).toEqual(known);
    expect((await read()).body).toEqual(known);
  }
  for (const change of [{ text: `${known.text} ` }, { text: SOAP_TEXT, is_final: false }])
    expectRefusal(await changingNothing(() => call.reportSoapNote(change)), 422, /final/);
  expect((await read()).body).toEqual(known);
});
