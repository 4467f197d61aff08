import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_TEXT } from "../../../src/results/call_texts/call_texts.merge.ts";
import { mergeSoapNote } from "../../../src/results/soap_notes/soap_notes.merge.ts";
import type { SoapNote, SoapNoteReport } from "../../../src/results/soap_notes/soap_notes.schemas.ts";
import { eachReport, refusalOf } from "../support/merging.ts";

const CALL = { id: 3, organization_id: 1, soap_note_deleted_at: null };

const draft: SoapNote = {
  ...EMPTY_TEXT,
  id: 9,
  organization_id: 1,
  call_id: 3,
  kind: "soap_note",
  text: "A cough.",
  is_final: false,
  reported_at: 0,
  created_at: 1,
  updated_at: 2,
};
const final = { ...draft, is_final: true };

const merge = (note: SoapNote | undefined, report: SoapNoteReport, now = 7) =>
  mergeSoapNote({ call: CALL, note }, report, now) as SoapNote;

describe("mergeSoapNote, with a first report", () => {
  it("creates the note", () => {
    expect(merge(undefined, { text: "A cough.", is_final: true })).toEqual({
      ...EMPTY_TEXT,
      organization_id: 1,
      call_id: 3,
      kind: "soap_note",
      text: "A cough.",
      is_final: true,
      created_at: 7,
      updated_at: 7,
      reported_at: 7,
    });
  });

  it("refuses the report once a note was deleted", () => {
    const call = { ...CALL, soap_note_deleted_at: 5 };
    const report = { text: "A cough.", is_final: true };
    expect(refusalOf(() => mergeSoapNote({ call, note: undefined }, report, 7))).toMatch(/was deleted/);
  });

  it.each([{}, { text: "A cough." }, { is_final: false }])("refuses a report of only %o", (report) => {
    expect(refusalOf(() => merge(undefined, report))).toMatch(/required in the first report/);
  });
});

describe("mergeSoapNote, with a later report", () => {
  it.each([{ text: "A cold." }, { is_final: true }, { text: "A cold.", is_final: true }])(
    "changes a draft: %o",
    (report) => {
      expect(merge(draft, report)).toEqual({ ...draft, ...report, updated_at: 7, reported_at: 7 });
    },
  );

  it.each([{ text: "A cold." }, { is_final: false }])("refuses to change a final note: %o", (report) => {
    expect(refusalOf(() => merge(final, report))).toMatch(/is final/);
  });
});

describe("mergeSoapNote, for any reports in any order", () => {
  const onEachReport = eachReport(
    fc.record({ text: fc.constantFrom("A cough.", "A cold."), is_final: fc.boolean() }, { requiredKeys: [] }),
    merge,
  );

  it("changes nothing when a report is repeated", () => {
    onEachReport((_, next, report, now) => expect(merge(next, report, now + 1)).toBe(next));
  });

  it("never changes a final note", () => {
    onEachReport((known, next) => {
      if (known?.is_final) expect(next).toBe(known);
    });
  });
});
