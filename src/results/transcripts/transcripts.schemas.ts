import * as z from "zod";
import { key, multilineText, pathId, upToFirstFault } from "../../http/wire.ts";
import * as limits from "../../limits.ts";
import { type ReportOrigin, reportBody } from "../../rooms/report.ts";
import type { CallText } from "../call_texts/call_texts.sql.ts";
import type { Lines, StoredLine } from "./transcripts.document.ts";
import * as refusals from "./transcripts.refusals.ts";
import type { transcriptSchema } from "./transcripts.responses.ts";

/** Rounded to milliseconds, so that 0.1 + 0.2 is 0.3. Numbers too large for milliseconds in a double are not rounded. */
const secondsOfLine = () =>
  z
    .number()
    .nonnegative({ abort: true })
    .overwrite((value) => (value < Number.MAX_SAFE_INTEGER / 1000 ? Math.round(value * 1000) / 1000 : value));

/** Sorted by time, each line with its index in the request. */
const reportedLines = () =>
  upToFirstFault(
    z
      .array(
        z.object({
          participant_key: key(),
          text: multilineText(limits.MAX_TRANSCRIPT_LINE_LENGTH),
          start_time: secondsOfLine(),
          end_time: secondsOfLine(),
        }),
      )
      .max(limits.MAX_TRANSCRIPT_LINES, refusals.TOO_MANY_LINES)
      .check(({ value: lines, issues }) => {
        const backward = lines.findIndex((line) => line.start_time > line.end_time);
        if (backward >= 0)
          issues.push({
            code: "custom",
            message: refusals.LINE_ENDS_TOO_EARLY,
            path: [backward, "end_time"],
            input: lines[backward]?.end_time,
          });
      }),
  )
    .transform((lines) =>
      lines
        .map((line, place) => ({ ...line, place }))
        .sort((a, b) => a.start_time - b.start_time || a.end_time - b.end_time),
    )
    .check(({ value: lines, issues }) => {
      const overlapping = lines.find((line, n) => line.start_time < (lines[n - 1]?.end_time ?? 0));
      if (overlapping)
        issues.push({
          code: "custom",
          message: refusals.LINES_OVERLAP,
          path: [overlapping.place],
          input: overlapping,
        });
    })
    .refine(
      (lines) => new Set(lines.map((line) => line.participant_key)).size <= limits.MAX_CALL_PARTICIPANTS,
      refusals.TOO_MANY_SPEAKERS,
    );

export const reportTranscriptBody = () =>
  reportBody({
    transcript: z
      .object({
        // An empty summary counts as null, because the service itself returns one until a summary is reported.
        summary: multilineText(limits.MAX_NOTE_LENGTH, { canBeEmpty: true })
          .nullable()
          .transform((summary) => summary || null),
        is_final: z.boolean(),
        lines: reportedLines(),
      })
      .partial(),
  });

export const transcriptQuery = () => z.object({ egress_id: pathId().optional() });

export type TranscriptReport = z.output<ReturnType<typeof reportTranscriptBody>>["transcript"] & ReportOrigin;

export type Transcript = CallText;

/** A transcript with its lines, and the current names of the call's participants by id. */
export interface TranscriptWithLines extends Transcript {
  /** Can be iterated only once. */
  lines: Iterable<StoredLine>;
  names: Map<number, string>;
}

export type StoredTranscript = TranscriptWithLines & { lines: Lines<StoredLine> };

/** About how long the transcript is as JSON, in characters. */
export function lengthOf({ lines, names }: Pick<StoredTranscript, "lines" | "names">): number {
  const longest = Math.max(0, ...[...names.values()].map((name) => name.length));
  // 100 for the keys, numbers and punctuation of a line.
  return lines.length + lines.count * (100 + longest);
}

type TranscriptJson = z.input<typeof transcriptSchema>;

export const toLine = (line: StoredLine, names: Map<number, string>) => ({
  ...toSpoken(line),
  display_name: names.get(line.speaker_id) ?? "",
});

const toSpoken = (line: StoredLine): Omit<TranscriptJson["transcript_lines"][number], "display_name"> => ({
  id: line.id,
  text: line.text,
  start_time: line.start_time,
  end_time: line.end_time,
});

/** A transcript as JSON, line by line. A line without a name has a speaker whose record is gone. */
export function* toTranscriptJson(
  { lines, names: displayNames, ...row }: TranscriptWithLines,
  more: object = {},
): Generator<string> {
  const { id, summary, is_final } = row;
  const fields: Omit<TranscriptJson, "transcript_lines"> = { id, summary: summary ?? "", is_final };
  yield `${JSON.stringify(fields).slice(0, -1)},"transcript_lines":[`;
  // Each name is on many lines, and can be much longer than what is said there.
  const names = new Map(Array.from(displayNames, ([id, name]) => [id, JSON.stringify(name)]));
  let separator = "";
  for (const line of lines) {
    const name = names.get(line.speaker_id) ?? '""';
    yield `${separator}${JSON.stringify(toSpoken(line)).slice(0, -1)},"display_name":${name}}`;
    separator = ",";
  }
  const rest = JSON.stringify(more).slice(1);
  yield rest === "}" ? "]}" : `],${rest}`;
}
