import { invalidBody } from "../../http/errors.ts";
import { CORRECTION_BODY_LIMIT, MAX_TEXT_VERSIONS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import { soapNoteNotFound } from "../soap_notes/soap_notes.merge.ts";
import { soapNoteSchema } from "../soap_notes/soap_notes.responses.ts";
import { transcriptNotFound, transcriptTooLong } from "../transcripts/transcripts.refusals.ts";
import { transcriptSchema } from "../transcripts/transcripts.responses.ts";
import * as refusals from "./call_text_versions.refusals.ts";
import * as responses from "./call_text_versions.responses.ts";

const note = exampleOf(soapNoteSchema);

const correctedNote = { ...note, text: note.text.replace("No fever.", "A slight fever.") };

const noteBefore = {
  ...exampleOf(responses.soapNoteVersionSchema),
  text: note.text,
  reason: "Misheard: the patient reported a slight fever",
};

const transcript = exampleOf(transcriptSchema);

const corrected = {
  ...transcript,
  transcript_lines: transcript.transcript_lines.map((line, n) =>
    n === 1 ? { ...line, text: "Much better, thank you." } : line,
  ),
};

const { id, text } = corrected.transcript_lines[1] as (typeof corrected.transcript_lines)[number];

const REASON =
  "The reason for the correction, for people who read the versions. It should not name a person.";

const correction = (name: string, keeps: string) =>
  `Corrects a final ${name}. The previous text is kept as a version; ${keeps} A correction that changes nothing creates no version. You can correct a ${name} under legal hold, because nothing is lost. A ${name} can be corrected up to ${MAX_TEXT_VERSIONS} times. The body can have up to ${CORRECTION_BODY_LIMIT / 1024 / 1024} MiB.`;

const notFoundBecause = (name: string) =>
  `Something in the path does not exist, the client has no access to it, or the call has no ${name} or no longer has one.`;

export const callTextVersionsReference: Reference = {
  tag: "Corrections",
  description:
    "The organization can correct a final transcript or SOAP note that is wrong. Each correction keeps the previous text as a version, with who corrected it, when and why. Versions are kept as long as the text.",
  external: {
    "PUT /organization_users/:organization_user_id/calls/:call_id/soap_note": {
      operationId: "correctSoapNote",
      summary: "Correct the SOAP note of a call",
      description: correction("SOAP note", "the note keeps its `id`."),
      request: {
        fields: {
          soap_note: "The correction.",
          "soap_note.text": "The whole corrected note.",
          "soap_note.reason": REASON,
        },
        example: { soap_note: { text: correctedNote.text, reason: noteBefore.reason } },
      },
      response: { schema: soapNoteSchema, example: correctedNote },
      refusals: { 404: notFoundBecause("note") },
      errors: [
        soapNoteNotFound(),
        refusals.textNotFinal("soap_note"),
        refusals.correctedTooOften("soap_note"),
      ],
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/soap_note/versions": {
      operationId: "listSoapNoteVersions",
      summary: "List the versions of a SOAP note before its corrections",
      response: { schema: responses.soapNoteVersionsSchema, example: { versions: [noteBefore] } },
      refusals: { 404: notFoundBecause("note") },
      errors: [soapNoteNotFound()],
    },
    "PUT /organization_users/:organization_user_id/calls/:call_id/transcript": {
      operationId: "correctTranscript",
      summary: "Correct the transcript of a call",
      description: correction(
        "transcript",
        "lines keep their `id`, times and speakers. A summary that is reported later is still accepted if there is none yet.",
      ),
      request: {
        fields: {
          transcript: "The correction. Omitted fields keep their values.",
          "transcript.summary": "The whole corrected summary.",
          "transcript.lines": "The lines to correct, in any order.",
          "transcript.lines.id": "The `id` of the line.",
          "transcript.lines.text": "The corrected text.",
          "transcript.reason": REASON,
        },
        examples: {
          "A line": { transcript: { lines: [{ id, text }], reason: "The end was cut off" } },
          "The summary": {
            transcript: {
              summary: "The recipient takes the tablets as before.",
              reason: "The medicine was missing",
            },
          },
        },
      },
      response: { schema: transcriptSchema, example: corrected },
      refusals: { 404: notFoundBecause("transcript") },
      errors: [
        transcriptNotFound(),
        invalidBody(`transcript.lines.1.id: ${refusals.LINE_REPEATED}`),
        refusals.lineUnknown(0),
        refusals.textNotFinal("transcript"),
        refusals.correctedTooOften("transcript"),
        transcriptTooLong(),
      ],
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/transcript/versions": {
      operationId: "listTranscriptVersions",
      summary: "List the versions of a transcript before its corrections",
      description: `Each version is the whole transcript.`,
      parameters: {
        after: {
          description:
            "Only older versions, with a lower number: the `next_after` of the previous response. Without it, the list begins with the newest version.",
          example: 12,
        },
      },
      response: { schema: responses.transcriptVersionsSchema },
      refusals: { 404: notFoundBecause("transcript") },
      errors: [transcriptNotFound()],
    },
  },
};
