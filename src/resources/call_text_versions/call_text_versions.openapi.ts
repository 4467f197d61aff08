import { unprocessable } from "../../http/errors.ts";
import { CORRECTION_BODY_LIMIT, MAX_TEXT_VERSIONS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import { soapNoteNotFound } from "../soap_notes/soap_notes.refusals.ts";
import { soapNoteSchema } from "../soap_notes/soap_notes.responses.ts";
import { transcriptNotFound, transcriptTooLong } from "../transcripts/transcripts.refusals.ts";
import { transcriptSchema } from "../transcripts/transcripts.responses.ts";
import {
  correctedTooOften,
  LINE_REPEATED,
  lineUnknown,
  textNotFinal,
} from "./call_text_versions.refusals.ts";
import {
  soapNoteVersionSchema,
  transcriptVersionSchema,
  versionsSchema,
} from "./call_text_versions.responses.ts";

const note = exampleOf(soapNoteSchema);

const noteBefore = {
  ...exampleOf(soapNoteVersionSchema),
  text: note.text.replace("No fever.", "Fever."),
  reason: "It was no fever: misheard",
};

const transcript = exampleOf(transcriptSchema);

const corrected = {
  ...transcript,
  transcript_lines: transcript.transcript_lines.map((line, n) =>
    n === 1 ? { ...line, text: "Much better, thank you." } : line,
  ),
};

const transcriptBefore = { ...exampleOf(transcriptVersionSchema), reason: "The end was cut off" };

const { id, text } = corrected.transcript_lines[1] as (typeof corrected.transcript_lines)[number];

const WHO =
  "This is for clients that act as a provider or an organization_admin, and reach the call: for others it is 404.";

const REASON = "Why, for those who look at the versions; it should name no person.";

const correction = (name: string, keeps: string) =>
  `Corrects a final ${name}. What it said before stays, as a version; ${keeps} A correction that changes nothing makes no version. Also possible under legal hold, since nothing is lost. At most ${MAX_TEXT_VERSIONS} times. The body can have up to ${CORRECTION_BODY_LIMIT / 1024 / 1024} MiB. ${WHO}`;

const notFoundBecause = (name: string) =>
  `Something in the path does not exist, the client has no access to it or may not correct it, or there is no ${name}, or none any more.`;

export const callTextVersionsReference: Reference = {
  tag: "Corrections",
  description:
    "A final transcript or SOAP note that is wrong can be corrected by the organization. What it said before each correction stays as long as the text: each is a version, with who corrected it, when and why.",
  external: {
    "PUT /organization_users/:organization_user_id/calls/:call_id/soap_note": {
      operationId: "correctSoapNote",
      summary: "Correct the SOAP note of a call",
      description: correction("SOAP note", "the note keeps its `id`."),
      request: {
        fields: {
          soap_note: "The correction.",
          "soap_note.text": "The whole note, as it should be.",
          "soap_note.reason": REASON,
        },
        example: { soap_note: { text: note.text, reason: noteBefore.reason } },
      },
      response: { schema: soapNoteSchema, example: note },
      refusals: { 404: notFoundBecause("note") },
      errors: [soapNoteNotFound(), textNotFinal("soap_note"), correctedTooOften("soap_note")],
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/soap_note/versions": {
      operationId: "listSoapNoteVersions",
      summary: "List what a SOAP note said before its corrections",
      description: WHO,
      response: {
        schema: versionsSchema(soapNoteVersionSchema, "note"),
        examples: { "Corrected once": { versions: [noteBefore] }, "Never corrected": { versions: [] } },
      },
      refusals: { 404: notFoundBecause("note") },
      errors: [soapNoteNotFound()],
    },
    "PUT /organization_users/:organization_user_id/calls/:call_id/transcript": {
      operationId: "correctTranscript",
      summary: "Correct the transcript of a call",
      description: correction(
        "transcript",
        "lines keep their `id`, times and speakers. A summary that is reported later is still taken, if there is none yet.",
      ),
      request: {
        fields: {
          transcript: "The correction: what is left out stays.",
          "transcript.summary": "The whole summary, as it should be.",
          "transcript.lines": "The lines that are wrong, in any order.",
          "transcript.lines.id": "The `id` of the line.",
          "transcript.lines.text": "What was said.",
          "transcript.reason": REASON,
        },
        examples: {
          "A line": { transcript: { lines: [{ id, text }], reason: transcriptBefore.reason } },
          "The summary": {
            transcript: { summary: transcript.summary, reason: "It named another medicine" },
          },
        },
      },
      response: { schema: transcriptSchema, examples: { "A line was corrected": corrected } },
      refusals: { 404: notFoundBecause("transcript") },
      errors: [
        transcriptNotFound(),
        unprocessable(`transcript.lines: ${LINE_REPEATED}`),
        lineUnknown(id),
        textNotFinal("transcript"),
        correctedTooOften("transcript"),
        transcriptTooLong(),
      ],
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/transcript/versions": {
      operationId: "listTranscriptVersions",
      summary: "List what a transcript said before its corrections",
      description: `Each version is the whole transcript. ${WHO}`,
      response: {
        schema: versionsSchema(transcriptVersionSchema, "transcript"),
        examples: {
          "Corrected once": { versions: [transcriptBefore] },
          "Never corrected": { versions: [] },
        },
      },
      refusals: { 404: notFoundBecause("transcript") },
      errors: [transcriptNotFound()],
    },
  },
};
