import * as z from "zod";
import { MAX_NOTE_LENGTH } from "../../limits.ts";
import { id, longText } from "../../openapi/shapes.ts";

export const soapNoteSchema = z
  .object({
    id: id().describe("The id of the SOAP note."),
    text: longText(MAX_NOTE_LENGTH)
      .min(1)
      .describe(
        "The full note as it was reported, with line breaks. Its sections are Subjective, Objective, Assessment and Plan.",
      ),
    is_final: z.boolean().describe("Whether the note is final. A final note does not change."),
  })
  .meta({ id: "SoapNote", description: "The clinical note of a call." });
