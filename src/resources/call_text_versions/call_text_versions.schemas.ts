import * as z from "zod";
import { id, multilineText, toTimestamp, upToFirstFault } from "../../http/wire.ts";
import { MAX_NOTE_LENGTH, MAX_TRANSCRIPT_LINE_LENGTH, MAX_TRANSCRIPT_LINES } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import { type SoapNote, toSoapNote } from "../soap_notes/soap_notes.schemas.ts";
import { TOO_MANY_LINES } from "../transcripts/transcripts.refusals.ts";
import { type TranscriptWithLines, toTranscriptJson } from "../transcripts/transcripts.schemas.ts";
import { correctionReason } from "./call_text_versions.fields.ts";
import { linesOfVersions } from "./call_text_versions.merge.ts";
import { LINE_REPEATED } from "./call_text_versions.refusals.ts";
import type { soapNoteVersionSchema } from "./call_text_versions.responses.ts";
import type { TextVersion } from "./call_text_versions.sql.ts";

export const correctSoapNoteBody = lazily(() =>
  z.object({ soap_note: z.object({ text: multilineText(MAX_NOTE_LENGTH), reason: correctionReason() }) }),
);

export type SoapNoteCorrection = z.output<ReturnType<typeof correctSoapNoteBody>>["soap_note"];

const correctedLines = lazily(() =>
  upToFirstFault(
    z
      .array(z.object({ id: id(), text: multilineText(MAX_TRANSCRIPT_LINE_LENGTH) }))
      .max(MAX_TRANSCRIPT_LINES, TOO_MANY_LINES),
  ).refine((lines) => new Set(lines.map((line) => line.id)).size === lines.length, LINE_REPEATED),
);

export const correctTranscriptBody = lazily(() =>
  z.object({
    transcript: z.object({
      summary: multilineText(MAX_NOTE_LENGTH).optional(),
      lines: correctedLines().optional(),
      reason: correctionReason(),
    }),
  }),
);

export type TranscriptCorrection = z.output<ReturnType<typeof correctTranscriptBody>>["transcript"];

/** What a version says beside the text: who ended it, when and why. */
const endOfVersion = ({ version, reason, user_id, created_at }: TextVersion) => ({
  version,
  reason,
  user_id,
  created_at: toTimestamp(created_at),
});

function toSoapNoteVersion(note: SoapNote, version: TextVersion): z.input<typeof soapNoteVersionSchema> {
  return { ...toSoapNote({ ...note, text: version.text as string }), ...endOfVersion(version) };
}

/** The JSON of the versions of a note, one by one. */
export function* toSoapNoteVersionsJson({
  note,
  versions,
}: {
  note: SoapNote;
  versions: TextVersion[];
}): Generator<string> {
  yield '{"versions":[';
  for (const [n, version] of versions.entries())
    yield `${n ? "," : ""}${JSON.stringify(toSoapNoteVersion(note, version))}`;
  yield "]}";
}

/**
 * The JSON of the versions of a transcript, line by line: each can be as long as the transcript.
 *
 * @param versions newest first
 */
export function* toTranscriptVersionsJson({
  versions,
  ...transcript
}: TranscriptWithLines & { versions: TextVersion[] }): Generator<string> {
  yield '{"versions":[';
  let separator = "";
  for (const { version, lines } of linesOfVersions([...transcript.lines], versions)) {
    yield separator;
    yield* toTranscriptJson({ ...transcript, summary: version.summary, lines }, endOfVersion(version));
    separator = ",";
  }
  yield "]}";
}
