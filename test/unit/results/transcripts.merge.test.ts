import { expect, it } from "vitest";
import { EMPTY_TEXT } from "../../../src/results/call_texts/call_texts.merge.ts";
import { mergeTranscript, type ReportedLines } from "../../../src/results/transcripts/transcripts.merge.ts";
import type { Transcript } from "../../../src/results/transcripts/transcripts.schemas.ts";
import { refusalOf } from "../support/merging.ts";

// The model compares what a report of a transcript changes in an answer.

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

type Report = Parameters<typeof mergeTranscript>[1];

const merge = (
  transcript: Transcript | undefined,
  report: Report,
  lines: ReportedLines = { digest: undefined },
) => mergeTranscript({ call: CALL, transcript }, report, lines, 7) as Transcript;

it("mergeTranscript creates a transcript, even without a summary", () => {
  const times = { created_at: 7, updated_at: 7, reported_at: 7 };
  const of = { organization_id: 1, call_id: 3, kind: "transcript", lines_digest: "a" };
  const created = merge(undefined, { is_final: false }, { digest: "a" });
  expect(created).toEqual({ ...EMPTY_TEXT, ...of, is_final: false, ...times });
});

it("mergeTranscript stores the end of the last line in whole milliseconds", () => {
  const spoken = { digest: "b", until: 61.2345 };
  const next = merge(draft, {}, spoken);
  expect(next).toMatchObject({ spoken_until: 61_235 });
  expect(merge(next, { summary: "Another talk." })).toMatchObject({ spoken_until: 61_235 });
  expect(merge(next, {}, { digest: "c" })).toMatchObject({ spoken_until: null });
  expect(merge(next, {}, { ...spoken, until: 1e300 })).toMatchObject({
    spoken_until: Number.MAX_SAFE_INTEGER,
  });
});

it("mergeTranscript refuses a stranger's lines, even if the transcript is final", () => {
  for (const known of [draft, final])
    expect(refusalOf(() => merge(known, {}, { digest: "s", stranger: 0 }))).toMatch(/participant_key/);
});

it("mergeTranscript gives a final transcript its summary once", () => {
  const complete = merge({ ...final, summary: null }, { summary: "A talk." }, { digest: "a" });
  expect(complete).toEqual({ ...final, updated_at: 7, reported_at: 7 });
  for (const report of [{}, { summary: null }, { summary: "A talk.", is_final: true }])
    expect(merge(complete, report, { digest: "a" })).toBe(complete);
});

it("mergeTranscript refuses to change a final transcript", () => {
  for (const [report, digest] of [
    [{ summary: "A long talk." }, undefined],
    [{ summary: "A talk." }, "b"],
    [{}, "b"],
    [{ is_final: false }, undefined],
  ] as const)
    expect(refusalOf(() => merge(final, report, { digest }))).toMatch(/is final/);
});
