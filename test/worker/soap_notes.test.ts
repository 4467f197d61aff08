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

/** A note that is not final yet. */
async function aDraft() {
  const scene = await aCallToNote();
  const draft = { text: TEXT, is_final: false };
  return { ...scene, draft, reported: await given(scene.call.reportSoapNote(draft)) };
}

async function aFinalNote() {
  const scene = await aDraft();
  return { ...scene, reported: await given(scene.call.reportSoapNote({ is_final: true })) };
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

  it.each(["🩺", "\u001b"])("may be changed however long it is: 200,000 of %j", async (character) => {
    const { clinic, call, read } = await aCallToNote();
    leavingNoRows(clinic.id, "call_texts");
    const report = (soap_note: object) =>
      platform.through(throughStrictDatabase).put(`${call.url}/soap_note`, { soap_note });
    const text = `${character.repeat(199_999)}A`;
    await given(report({ text, is_final: false }));
    await given(report({ text: text.replace("A", "B") }));
    await given(report({ is_final: true }));
    expect((await read()).body.text === text.replace("A", "B")).toBe(true);
  });
});

describe("A later report of a SOAP note", () => {
  it("changes nothing if it repeats the first or is empty", async () => {
    const { call, draft, reported } = await aDraft();
    for (const again of [draft, {}]) {
      const answer = await changingNothing(() => call.reportSoapNote(again));
      expect(answer).toMatchObject({ status: 200, body: reported });
    }
  });

  it("keeps the fields that it leaves out", async () => {
    const { call, reported, read } = await aDraft();
    await given(call.reportSoapNote({ text: "Subjective: better." }));
    expect((await read()).body).toEqual({ ...reported, text: "Subjective: better." });
    await given(call.reportSoapNote({ is_final: true }));
    expect((await read()).body).toEqual({ ...reported, text: "Subjective: better.", is_final: true });
  });
});

describe("A final SOAP note", () => {
  it("accepts the same report again, or a part of it, and does not change", async () => {
    const { call, reported } = await aFinalNote();
    for (const same of [{ text: TEXT, is_final: true }, { is_final: true }, { text: TEXT }, {}]) {
      const answer = await changingNothing(() => call.reportSoapNote(same));
      expect(answer).toMatchObject({ status: 200, body: reported });
    }
  });

  it("refuses another text, also one with a space more, and an early report that comes late", async () => {
    const { call, draft, reported, read } = await aFinalNote();
    for (const change of [{ text: "Subjective: better." }, { text: `${TEXT} ` }, { is_final: false }, draft])
      expectRefusal(await changingNothing(() => call.reportSoapNote(change)), 422, /final/);
    expect((await read()).body).toEqual(reported);
  });
});
