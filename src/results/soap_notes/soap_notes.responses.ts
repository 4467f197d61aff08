import * as z from "zod";
import { id, multilineText } from "../../http/wire.ts";
import { MAX_NOTE_LENGTH } from "../../limits.ts";
import { named } from "../../openapi/schemas.ts";

export const soapNoteSchema = named("SoapNote", "The clinical note of a call.", {
  id: id().meta({ description: "The id of the SOAP note.", example: 51 }),
  text: multilineText(MAX_NOTE_LENGTH).meta({
    description:
      "The full note as reported or corrected, with its line breaks. Its sections are Subjective, Objective, Assessment and Plan; the content is not validated.",
    example:
      "Subjective: Feels better.\n\nObjective: No fever.\n\nAssessment: Recovering.\n\nPlan: Continue the treatment.",
  }),
  is_final: z.boolean().meta({
    description: "Whether the note is final. A final note changes only when the organization corrects it.",
    example: true,
  }),
});
