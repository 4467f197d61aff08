import * as z from "zod";
import { id, timestamp } from "../../http/wire.ts";
import { MAX_TEXT_VERSIONS } from "../../limits.ts";
import * as story from "../../openapi/story.ts";
import { soapNoteSchema } from "../soap_notes/soap_notes.responses.ts";
import { transcriptSchema } from "../transcripts/transcripts.responses.ts";
import { correctionReason } from "./call_text_versions.fields.ts";

const endOfVersion = {
  version: z.int().min(1).max(MAX_TEXT_VERSIONS).meta({
    description: "The number of the version. The text as it was when it became final is version 1.",
    example: 1,
  }),
  reason: correctionReason().meta({
    description: "Why it was corrected.",
    example: "The dose was misheard",
  }),
  user_id: id().meta({
    description: "The organization user as whom the client acted that corrected it.",
    example: story.PAULA.id,
  }),
  created_at: timestamp().meta({
    description: "When it was corrected, and this version ended.",
    example: story.CORRECTED_AT,
  }),
};

export const soapNoteVersionSchema = soapNoteSchema
  .extend(endOfVersion)
  .meta({ id: "SoapNoteVersion", description: "A SOAP note as it was before a correction." });

export const transcriptVersionSchema = transcriptSchema
  .extend(endOfVersion)
  .meta({ id: "TranscriptVersion", description: "A transcript as it was before a correction." });

/** @param text how people call it */
export const versionsSchema = <Version extends z.ZodType>(version: Version, text: string) =>
  z.object({
    versions: z
      .array(version)
      .max(MAX_TEXT_VERSIONS)
      .describe(
        `What the ${text} said before each of its corrections, newest first. Empty if it was never corrected.`,
      ),
  });
