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
 * The transcript after a report: a field that is left out stays as it is, null clears it. A final transcript never
 * changes.
 *
 * @returns the known transcript itself where nothing changes
 * @throws ApiError 422 where the first report is not complete, a stranger speaks, a final transcript would change, or
 *   one without a summary would become final
 */
export function mergeTranscript(
  known: TranscriptRecord | undefined,
  report: Omit<TranscriptReport, "lines">,
  lines: ReportedLines,
  now: number,
): TranscriptRecord {
  const { summary = known?.summary ?? null, is_final = known?.is_final } = report;
  const lines_digest = lines.digest ?? known?.lines_digest;
  if (is_final === undefined || lines_digest === undefined)
    throw unprocessable("transcript: is_final and lines are required in the first report");
  if (lines.hasStranger) throw unprocessable("transcript.lines: a participant_key is not on the call");
  const next = reviseRecord(known, { summary, is_final, lines_digest }, now);
  if (known?.is_final && next !== known) throw unprocessable("The transcript is final and cannot be changed");
  if (is_final && summary === null)
    throw unprocessable("transcript.summary: is required in a final transcript");
  return next;
}
