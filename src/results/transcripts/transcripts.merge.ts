import type { Call } from "../../calls/calls/calls.schemas.ts";
import { MAX_TRANSCRIPT_SIZE } from "../../limits.ts";
import { isLate, reviseReported } from "../../rooms/report.ts";
import { EMPTY_TEXT, type TextRow } from "../call_texts/call_texts.merge.ts";
import type { Line } from "./transcripts.document.ts";
import { speakerNotOnCall, transcriptRefusals, transcriptTooLong } from "./transcripts.refusals.ts";
import type { Transcript, TranscriptReport } from "./transcripts.schemas.ts";

interface KnownTranscript {
  call: Pick<Call, "id" | "organization_id" | "transcript_deleted_at">;
  transcript: Transcript | undefined;
}

export interface ReportedLines {
  digest: string | undefined;
  /** The end of the last line, in seconds from the start of the call; undefined without lines. */
  until?: number | undefined;
  /** The index of the first line whose speaker is not on the call. */
  stranger?: number | undefined;
}

/**
 * The transcript after a report: an omitted field stays, null clears it. The digest represents the lines. A final
 * transcript does not change, except that it can still get its summary, once, if it became final without one. A late
 * draft only supplies a missing summary.
 *
 * @throws ApiError 422 if the transcript was deleted, the first report is incomplete, a speaker is not on the call, or
 *   a final transcript would change
 */
export function mergeTranscript(
  { call, transcript: known }: KnownTranscript,
  report: Omit<TranscriptReport, "lines">,
  reported: ReportedLines,
  now: number,
): TextRow {
  const isLateDraft = known !== undefined && isLate(report, known) && !report.is_final;
  const lines: ReportedLines = isLateDraft ? { ...reported, digest: undefined } : reported;
  if (call.transcript_deleted_at !== null) throw transcriptRefusals.wasDeleted();
  const { is_final = known?.is_final } = isLateDraft ? known : report;
  const lines_digest = lines.digest ?? known?.lines_digest ?? undefined;
  if (is_final === undefined || lines_digest === undefined) throw transcriptRefusals.isIncomplete();
  if (lines.stranger !== undefined) throw speakerNotOnCall(lines.stranger);
  const { id: call_id, organization_id } = call;
  const summary = isLateDraft ? (known.summary ?? report.summary ?? null) : summaryAfter(known, report);
  const spoken_until =
    lines.digest === undefined ? (known?.spoken_until ?? null) : toMilliseconds(lines.until);
  const kind = "transcript" as const;
  const fields = { organization_id, call_id, kind, summary, is_final, lines_digest, spoken_until };
  const next = reviseReported(known, { ...(known ?? EMPTY_TEXT), ...fields }, report, now);
  if (known?.is_final && changesFinal(known, next)) throw transcriptRefusals.isFinal();
  return next;
}

/** Capped, because seconds have no limit but the column holds an integer. */
const toMilliseconds = (seconds: number | undefined) =>
  seconds === undefined ? null : Math.min(Math.ceil(seconds * 1000), Number.MAX_SAFE_INTEGER);

/** @throws ApiError 422 if the transcript exceeds the size of a single report */
export function requireReportable(summary: string | null, lines: readonly Line[]) {
  const sizeOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;
  let size = sizeOf(summary);
  for (const { text, start_time, end_time } of lines) size += sizeOf({ text, start_time, end_time });
  if (size > MAX_TRANSCRIPT_SIZE) throw transcriptTooLong();
}

/**
 * A report from before the summary may be repeated after it, so null clears only a draft's summary. A cleared summary
 * is stored as an empty string, so that a late draft does not bring it back.
 */
function summaryAfter(known: Transcript | undefined, { summary }: Pick<TranscriptReport, "summary">) {
  const isKept = summary === undefined || (summary === null && known?.is_final);
  return isKept ? (known?.summary ?? null) : (summary ?? "");
}

const changesFinal = (known: Transcript, next: TextRow) =>
  !next.is_final ||
  next.lines_digest !== known.lines_digest ||
  (!!known.summary && next.summary !== known.summary);
