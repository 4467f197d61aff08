import type * as z from "zod";
import { MAX_NOTE_LENGTH } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { soapNoteSchema } from "./soap_notes.schemas.ts";

const note: z.input<typeof soapNoteSchema> = {
  id: 51,
  text: "Subjective: Feels better.\n\nObjective: No fever.\n\nAssessment: Recovering.\n\nPlan: Go on with the treatment.",
  is_final: true,
};

export const soapNotesReference: Reference = {
  tag: "SOAP notes",
  description: "The generated clinical note of a call.",
  schemas: {
    SoapNote: {
      schema: soapNoteSchema,
      description: "The clinical note of a call.",
      fields: {
        id: "Identifies the SOAP note.",
        text: "The whole note, in the sections Subjective, Objective, Assessment and Plan.",
        is_final: "Whether the note is final.",
      },
    },
  },
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/soap_note": {
      operationId: "getSoapNote",
      summary: "Get the SOAP note of a call",
      status: 200,
      response: { schema: soapNoteSchema, example: note },
      refusals: {
        404: "What the path names does not exist, or is not within reach, or the call has no SOAP note.",
      },
    },
  },
  platform: {
    "PUT /calls/:key/soap_note": {
      operationId: "reportSoapNote",
      summary: "Report the SOAP note of a call",
      description: `The first report takes both fields. A final note changes no more. It holds at most ${MAX_NOTE_LENGTH} characters.`,
      status: 200,
      requestExample: { soap_note: { text: note.text, is_final: true } },
      response: { schema: soapNoteSchema, example: note },
      refusals: { 422: "The SOAP note is final already, or a first report lacks a field." },
    },
  },
};
