import * as z from "zod";
import { id, timestamp } from "../../http/wire.ts";
import { MAX_TEXT_VERSIONS, TRANSCRIPT_VERSIONS_PAGE } from "../../limits.ts";
import { field } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { soapNoteSchema } from "../soap_notes/soap_notes.responses.ts";
import { transcriptSchema } from "../transcripts/transcripts.responses.ts";
import { correctionReason } from "./call_text_versions.schemas.ts";

const endOfVersion = {
  version: z.int().min(1).max(MAX_TEXT_VERSIONS).meta({
    description: "The number of the version. Version 1 is the text when it became final.",
    example: 1,
  }),
  reason: field(correctionReason(), "Why the text was corrected.", "The dose was misheard"),
  user_id: field(id(), "The organization user whose API client made the correction.", story.PAULA.id),
  created_at: field(timestamp(), "When the text was corrected and this version ended.", story.CORRECTED_AT),
};

export const soapNoteVersionSchema = soapNoteSchema
  .extend(endOfVersion)
  .meta({ id: "SoapNoteVersion", description: "A SOAP note as it was before a correction." });

const transcriptVersionSchema = transcriptSchema
  .extend(endOfVersion)
  .meta({ id: "TranscriptVersion", description: "A transcript as it was before a correction." });

/** Paged by size, because a version can be as long as the transcript. */
export const transcriptVersionsSchema = z.object({
  versions: z
    .array(transcriptVersionSchema)
    .max(MAX_TEXT_VERSIONS)
    .describe(
      `The versions of the transcript before its corrections, newest first. A page has at least one version, and ends with the version that reaches ${TRANSCRIPT_VERSIONS_PAGE / 1024 / 1024} MiB. Empty if the transcript was never corrected.`,
    ),
  next_after: field(id().nullable(), "The `after` for the next request; null at the end.", null),
});

export const soapNoteVersionsSchema = z.object({
  versions: z
    .array(soapNoteVersionSchema)
    .max(MAX_TEXT_VERSIONS)
    .describe(
      "The versions of the note before its corrections, newest first. Empty if the note was never corrected.",
    ),
});
