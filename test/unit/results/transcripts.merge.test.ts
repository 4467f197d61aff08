import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_TEXT } from "../../../src/results/call_texts/call_texts.merge.ts";
import { mergeTranscript, type ReportedLines } from "../../../src/results/transcripts/transcripts.merge.ts";
import type { Transcript } from "../../../src/results/transcripts/transcripts.schemas.ts";
import { eachReport, refusalOf } from "../support/merging.ts";

const CALL = { id: 3, organization_id: 1, transcript_deleted_at: null };

const draft: Transcript = {
  ...EMPTY_TEXT,
  id: 9,
  organization_id: 1,
  call_id: 3,
  kind: "transcript",
  summary: "A talk.",
  is_final: false,
  reported_at: 0,
  lines_digest: "a",
  created_at: 1,
  updated_at: 2,
};
const final = { ...draft, is_final: true };

const NO_LINES = { digest: undefined };
const lines = (digest: string) => ({ digest });
const strangersLines = { digest: "s", stranger: 0 };

type Report = Parameters<typeof mergeTranscript>[1];

const merge = (transcript: Transcript | undefined, report: Report, lines: ReportedLines, now = 7) =>
  mergeTranscript({ call: CALL, transcript }, report, lines, now) as Transcript;

describe("mergeTranscript, with a first report", () => {
  it("refuses the report once a transcript was deleted", () => {
    const call = { ...CALL, transcript_deleted_at: 5 };
    const known = { call, transcript: undefined };
    expect(refusalOf(() => mergeTranscript(known, { is_final: true }, lines("a"), 7))).toMatch(/was deleted/);
  });

  it("creates the transcript, even without a summary", () => {
    const next = merge(undefined, { is_final: false }, lines("a"));
    expect(next).toEqual({
      ...EMPTY_TEXT,
      organization_id: 1,
      call_id: 3,
      kind: "transcript",
      summary: null,
      is_final: false,
      lines_digest: "a",
      spoken_until: null,
      created_at: 7,
      updated_at: 7,
      reported_at: 7,
    });
  });

  it.each([
    ["nothing", {}, NO_LINES],
    ["no lines", { summary: "A talk.", is_final: false }, NO_LINES],
    ["no is_final", { summary: "A talk." }, lines("a")],
    ["neither is_final nor speakers of the call", {}, strangersLines],
  ])("refuses a report with %s", (_, report, reportedLines) => {
    expect(refusalOf(() => merge(undefined, report, reportedLines))).toMatch(/required in the first report/);
  });

  it("accepts a final transcript without a summary", () => {
    for (const [report, summary] of [
      [{ is_final: true }, null] as const,
      [{ is_final: true, summary: null }, ""] as const,
    ])
      expect(merge(undefined, report, lines("a"))).toMatchObject({ is_final: true, summary });
  });
});

it("mergeTranscript stores the end of the last line in whole milliseconds", () => {
  const spoken = { ...lines("b"), until: 61.2345 };
  const next = merge(draft, {}, spoken);
  expect(next).toMatchObject({ spoken_until: 61_235 });
  expect(merge(next, { summary: "Another talk." }, NO_LINES)).toMatchObject({ spoken_until: 61_235 });
  expect(merge(next, {}, lines("c"))).toMatchObject({ spoken_until: null });
  expect(merge(next, {}, { ...spoken, until: 1e300 })).toMatchObject({
    spoken_until: Number.MAX_SAFE_INTEGER,
  });
});

describe("mergeTranscript, with a later report", () => {
  it.each([
    ["another summary", { summary: "A long talk." }, NO_LINES, { summary: "A long talk." }],
    ["no summary", { summary: null }, NO_LINES, { summary: "" }],
    ["other lines", {}, lines("b"), { lines_digest: "b" }],
    ["is_final", { is_final: true }, NO_LINES, { is_final: true }],
  ])("changes a draft that gets %s", (_, report, reportedLines, change) => {
    expect(merge(draft, report, reportedLines)).toEqual({
      ...draft,
      ...change,
      updated_at: 7,
      reported_at: 7,
    });
  });

  it("refuses a stranger's lines, even if the transcript is final", () => {
    for (const known of [draft, final])
      expect(refusalOf(() => merge(known, {}, strangersLines))).toMatch(/participant_key/);
  });

  it("gives a final transcript its summary once", () => {
    const silent = { ...final, summary: null };
    const complete = merge(silent, { summary: "A talk." }, lines("a"));
    expect(complete).toEqual({ ...final, updated_at: 7, reported_at: 7 });
    for (const report of [{}, { summary: null }, { summary: "A talk.", is_final: true }])
      expect(merge(complete, report, lines("a"), 8)).toBe(complete);
  });

  it.each([
    ["another summary", { summary: "A long talk." }, NO_LINES],
    ["a summary with other lines", { summary: "A talk." }, lines("b")],
    ["other lines", {}, lines("b")],
    ["is_final false", { is_final: false }, NO_LINES],
  ])("refuses to give a final transcript %s", (_, report, reportedLines) => {
    expect(refusalOf(() => merge(final, report, reportedLines))).toMatch(/is final/);
  });
});

describe("mergeTranscript, for any reports in any order", () => {
  const onEachReport = eachReport(
    fc.record(
      {
        summary: fc.constantFrom(null, "A talk.", "A long talk."),
        is_final: fc.boolean(),
        digest: fc.constantFrom("a", "b", undefined),
        stranger: fc.option(fc.nat(), { nil: undefined }),
      },
      { requiredKeys: ["digest", "stranger"] },
    ),
    (known: Transcript | undefined, { digest, stranger, ...report }, now) =>
      merge(known, report, { digest, stranger }, now),
  );

  it("changes nothing when a report is repeated", () => {
    onEachReport((_, next, { digest, stranger, ...report }, now) =>
      expect(merge(next, report, { digest, stranger }, now + 1)).toBe(next),
    );
  });

  it("never changes a final transcript, except to add its summary once", () => {
    onEachReport((known, next) => {
      if (!known?.is_final || next === known) return;
      expect(known.summary ?? "").toBe("");
      expect(next.summary ?? "").not.toBe("");
      expect(next).toEqual({
        ...known,
        summary: next.summary,
        updated_at: next.updated_at,
        reported_at: next.reported_at,
      });
    });
  });

  it("stores no stranger's lines", () => {
    onEachReport((_known, _next, { stranger }) => expect(stranger).toBeUndefined());
  });
});
