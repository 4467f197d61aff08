import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { given } from "../support/organization.ts";
import { aCallToNote } from "../support/soap_notes.ts";
import { throughStrictDatabase } from "../support/strict_database.ts";
import { leavingNoRows } from "../support/unchanged.ts";

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
