import * as z from "zod";
import { pageQuery } from "../../http/pagination.ts";
import { unchangeable } from "../../http/unchangeable.ts";
import { distinct, id, multilineText, pathId, toTimestamp, upToFirstFault } from "../../http/wire.ts";
import * as limits from "../../limits.ts";
import { type SoapNote, toSoapNote } from "../soap_notes/soap_notes.schemas.ts";
import { TOO_MANY_LINES } from "../transcripts/transcripts.refusals.ts";
import {
  lengthOf,
  type StoredTranscript,
  type TranscriptWithLines,
  toTranscriptJson,
} from "../transcripts/transcripts.schemas.ts";
import { linesOfVersions } from "./call_text_versions.merge.ts";
import { LINE_REPEATED, NOTE_STAYS, TRANSCRIPT_STAYS } from "./call_text_versions.refusals.ts";
import type { soapNoteVersionSchema } from "./call_text_versions.responses.ts";
import type { TextVersion } from "./call_text_versions.table.ts";

export const correctionReason = () => multilineText(limits.MAX_CORRECTION_REASON_LENGTH);

export const correctSoapNoteBody = () =>
  z
    .object({
      soap_note: z.object({ text: multilineText(limits.MAX_NOTE_LENGTH), reason: correctionReason() }),
    })
    .register(unchangeable, NOTE_STAYS);

export type SoapNoteCorrection = z.output<ReturnType<typeof correctSoapNoteBody>>["soap_note"];

export const correctTranscriptBody = () => {
  const line = z.object({ id: id(), text: multilineText(limits.MAX_TRANSCRIPT_LINE_LENGTH) });
  const lines = upToFirstFault(z.array(line).max(limits.MAX_TRANSCRIPT_LINES, TOO_MANY_LINES));
  return z
    .object({
      transcript: z.object({
        summary: multilineText(limits.MAX_NOTE_LENGTH, { canBeEmpty: true }).optional(),
        lines: lines.check(distinct("id", LINE_REPEATED)).optional(),
        reason: correctionReason(),
      }),
    })
    .register(unchangeable, TRANSCRIPT_STAYS);
};

export type TranscriptCorrection = z.output<ReturnType<typeof correctTranscriptBody>>["transcript"];

const endOfVersion = ({ version, reason, user_id, created_at }: TextVersion) => ({
  version,
  reason,
  user_id,
  created_at: toTimestamp(created_at),
});

const toSoapNoteVersion = (note: SoapNote, version: TextVersion): z.input<typeof soapNoteVersionSchema> => ({
  ...toSoapNote({ ...note, text: version.text as string }),
  ...endOfVersion(version),
});

export function* toSoapNoteVersionsJson(note: SoapNote, versions: TextVersion[]): Generator<string> {
  yield '{"versions":[';
  for (const [n, version] of versions.entries())
    yield `${n ? "," : ""}${JSON.stringify(toSoapNoteVersion(note, version))}`;
  yield "]}";
}

export const transcriptVersionsQuery = () =>
  z.object({ after: pathId().optional(), per_page: pageQuery().shape.per_page });

/** About how long a page of versions is, and what is read for it, in characters. */
export function lengthOfVersions(transcript: StoredTranscript & { versions: TextVersion[] }): number {
  const length = lengthOf(transcript);
  const page = Math.min(transcript.versions.length * length, limits.TRANSCRIPT_VERSIONS_PAGE + length);
  return page + transcript.replaced_size;
}

/** A page of a transcript's versions as JSON, line by line, newest first. */
export function* toTranscriptVersionsJson(
  { versions, ...transcript }: TranscriptWithLines & { versions: TextVersion[] },
  { after = Number.POSITIVE_INFINITY, per_page }: z.output<ReturnType<typeof transcriptVersionsQuery>>,
): Generator<string> {
  yield '{"versions":[';
  let length = 0;
  let count = 0;
  let next_after: number | null = null;
  for (const { version, lines } of linesOfVersions([...transcript.lines], versions)) {
    if (version.version >= after) continue;
    if (length > 0) yield ",";
    for (const part of toTranscriptJson(
      { ...transcript, summary: version.summary, lines },
      endOfVersion(version),
    )) {
      length += part.length;
      yield part;
    }
    if (length < limits.TRANSCRIPT_VERSIONS_PAGE && ++count < per_page) continue;
    if (version.version > 1) next_after = version.version;
    break;
  }
  yield `],"next_after":${next_after}}`;
}
