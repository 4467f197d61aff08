import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { key, longText, upToFirstFault } from "../../http/wire.ts";
import {
  MAX_CALL_PARTICIPANTS,
  MAX_NOTE_LENGTH,
  MAX_TRANSCRIPT_LINE_LENGTH,
  MAX_TRANSCRIPT_LINES,
} from "../../limits.ts";
import type { StoredLine } from "./transcripts.document.ts";
import type { transcriptSchema } from "./transcripts.responses.ts";
import type { transcriptColumns } from "./transcripts.sql.ts";

const seconds = z.number().nonnegative({ abort: true });

const reportedLine = z.object({
  participant_key: key,
  text: longText(MAX_TRANSCRIPT_LINE_LENGTH),
  start_time: seconds,
  end_time: seconds,
});

/** In the order of the call, whatever order they came in. */
const reportedLines = upToFirstFault(
  z
    .array(reportedLine)
    .max(MAX_TRANSCRIPT_LINES, `must hold at most ${MAX_TRANSCRIPT_LINES} lines`)
    .check(({ value: lines, issues }) => {
      const backward = lines.findIndex((line) => line.start_time > line.end_time);
      if (backward >= 0)
        issues.push({
          code: "custom",
          message: "must not be before start_time",
          path: [backward, "end_time"],
          input: lines[backward]?.end_time,
        });
    }),
)
  .transform((lines) => lines.toSorted((a, b) => a.start_time - b.start_time || a.end_time - b.end_time))
  .refine(
    (lines) => lines.every((line, n) => line.start_time >= (lines[n - 1]?.end_time ?? 0)),
    "must not overlap",
  )
  .refine(
    (lines) => new Set(lines.map((line) => line.participant_key)).size <= MAX_CALL_PARTICIPANTS,
    `must be spoken by at most ${MAX_CALL_PARTICIPANTS} participants`,
  );

/** A report in part: what is left out stays as reported before. */
export const reportTranscriptBody = z.object({
  transcript: z
    .object({
      summary: longText(MAX_NOTE_LENGTH).nullable(),
      is_final: z.boolean(),
      lines: reportedLines,
    })
    .partial(),
});

export type TranscriptReport = z.output<typeof reportTranscriptBody>["transcript"];

export type Transcript = Row<typeof transcriptColumns>;

/** A transcript with its lines, and the names that those on the call have now, by their ids. */
export interface TranscriptWithLines extends Transcript {
  lines: StoredLine[];
  names: Map<number, string>;
}

/** A line stays, without a name, when its speaker's record is gone. */
export function toTranscript(row: TranscriptWithLines): z.input<typeof transcriptSchema> {
  return {
    id: row.id,
    summary: row.summary ?? "",
    is_final: row.is_final,
    transcript_lines: row.lines.map((line) => ({
      id: line.id,
      text: line.text,
      start_time: line.start_time,
      end_time: line.end_time,
      display_name: row.names.get(line.speaker_id) ?? "",
    })),
  };
}
