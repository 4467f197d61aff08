import { reviseRecord } from "../../database/merging.ts";
import { unprocessable } from "../../http/errors.ts";
import type { Transcript, TranscriptReport } from "./transcripts.schemas.ts";

/** What reports say of a transcript, and when. The digest stands for the lines. */
export type TranscriptRecord = Pick<
  Transcript,
  "summary" | "is_final" | "lines_digest" | "created_at" | "updated_at"
>;

/** What matters of the lines of a report. */
export interface ReportedLines {
  /** undefined where the report leaves the lines out. */
  digest: string | undefined;
  /** Whether somebody speaks who is not on the call. */
  hasStranger: boolean;
}

/**
 * The transcript after a report: a field that is left out stays as it is, null clears it. A final transcript does not
 * change any more, except that it gets its summary, once, if it became final without one.
 *
 * @returns the known transcript itself where nothing changes
 * @throws ApiError 422 if the first report is not complete, a stranger speaks, or a final transcript would change
 */
export function mergeTranscript(
  known: TranscriptRecord | undefined,
  report: Omit<TranscriptReport, "lines">,
  lines: ReportedLines,
  now: number,
): TranscriptRecord {
  const { is_final = known?.is_final } = report;
  const lines_digest = lines.digest ?? known?.lines_digest;
  if (is_final === undefined || lines_digest === undefined)
    throw unprocessable("transcript: is_final and lines are required in the first report");
  if (lines.hasStranger)
    throw unprocessable(
      "transcript.lines: a participant_key is not on the call: report the participant with the call first",
    );
  const next = reviseRecord(known, { summary: summaryAfter(known, report), is_final, lines_digest }, now);
  if (known?.is_final && changesFinal(known, next))
    throw unprocessable("The transcript is final and cannot be changed");
  return next;
}

/** A report from before the summary may come again after it, so null clears only the summary of a draft. */
function summaryAfter(known: TranscriptRecord | undefined, { summary }: Pick<TranscriptReport, "summary">) {
  const isKept = summary === undefined || (summary === null && known?.is_final);
  return isKept ? (known?.summary ?? null) : summary;
}

const changesFinal = (known: TranscriptRecord, next: TranscriptRecord) =>
  !next.is_final ||
  next.lines_digest !== known.lines_digest ||
  (known.summary !== null && next.summary !== known.summary);
