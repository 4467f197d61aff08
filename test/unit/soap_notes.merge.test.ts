import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeSoapNote } from "../../src/resources/soap_notes/soap_notes.merge.ts";
import { eachReport, refusalOf } from "./support/merging.ts";

const draft = { text: "A cough.", is_final: false, created_at: 1, updated_at: 2 };
const final = { ...draft, is_final: true };

describe("A first report of a SOAP note", () => {
  it("becomes the note", () => {
    expect(mergeSoapNote(undefined, { text: "A cough.", is_final: true }, 7)).toEqual({
      text: "A cough.",
      is_final: true,
      created_at: 7,
      updated_at: 7,
    });
  });

  it.each([{}, { text: "A cough." }, { is_final: false }])("is refused when it is only %o", (report) => {
    expect(refusalOf(() => mergeSoapNote(undefined, report, 7))).toMatch(/required in the first report/);
  });
});

describe("A later report of a SOAP note", () => {
  it.each([{}, { text: "A cough." }, { is_final: false }])("that changes nothing leaves it: %o", (report) => {
    expect(mergeSoapNote(draft, report, 7)).toBe(draft);
  });

  it.each([{ text: "A cold." }, { is_final: true }, { text: "A cold.", is_final: true }])(
    "changes a draft: %o",
    (report) => {
      expect(mergeSoapNote(draft, report, 7)).toEqual({ ...draft, ...report, updated_at: 7 });
    },
  );

  it.each([{}, { text: "A cough." }, { is_final: true }])("may repeat a final note: %o", (report) => {
    expect(mergeSoapNote(final, report, 7)).toBe(final);
  });

  it.each([{ text: "A cold." }, { is_final: false }])("may not change a final note: %o", (report) => {
    expect(refusalOf(() => mergeSoapNote(final, report, 7))).toMatch(/is final/);
  });
});

describe("Whatever is reported of a SOAP note, in whatever order,", () => {
  const onEachReport = eachReport(
    fc.record({ text: fc.constantFrom("A cough.", "A cold."), is_final: fc.boolean() }, { requiredKeys: [] }),
    mergeSoapNote,
  );

  it("reporting twice is reporting once", () => {
    onEachReport((_, next, report, now) => expect(mergeSoapNote(next, report, now + 1)).toBe(next));
  });

  it("a final note never changes", () => {
    onEachReport((known, next) => {
      if (known?.is_final) expect(next).toBe(known);
    });
  });
});
