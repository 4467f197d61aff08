import { expect, it } from "vitest";
import { EMPTY_TEXT } from "../../../src/results/call_texts/call_texts.merge.ts";
import { mergeSoapNote } from "../../../src/results/soap_notes/soap_notes.merge.ts";
import type { SoapNote, SoapNoteReport } from "../../../src/results/soap_notes/soap_notes.schemas.ts";
import { refusalOf } from "../support/merging.ts";

const CALL = { id: 3, organization_id: 1, soap_note_deleted_at: null };
const FINAL = { text: "A cough.", is_final: true };

const merge = (note: SoapNote | undefined, report: SoapNoteReport, now: number) =>
  mergeSoapNote({ call: CALL, note }, report, now);

it("mergeSoapNote creates a final note, which no report changes", () => {
  const created = merge(undefined, FINAL, 7);
  const times = { created_at: 7, updated_at: 7, reported_at: 7 };
  const of = { organization_id: 1, call_id: 3, kind: "soap_note" };
  expect(created).toEqual({ ...EMPTY_TEXT, ...of, ...FINAL, ...times });
  const note = { ...created, id: 9 } as SoapNote;
  for (const same of [{}, { text: "A cough." }, FINAL]) expect(merge(note, same, 8)).toBe(note);
  for (const report of [{ text: "A cold." }, { is_final: false }])
    expect(refusalOf(() => merge(note, report, 8))).toMatch(/is final/);
});
