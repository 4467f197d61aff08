import type * as z from "zod";
import { MAX_NOTE_LENGTH } from "../../limits.ts";
import { busy, type Reference } from "../../openapi/operation.ts";
import { soapNoteSchema } from "./soap_notes.responses.ts";

const note: z.input<typeof soapNoteSchema> = {
  id: 51,
  text: "Subjective: Feels better.\n\nObjective: No fever.\n\nAssessment: Recovering.\n\nPlan: Go on with the treatment.",
  is_final: true,
};

export const soapNotesReference: Reference = {
  tag: "SOAP notes",
  description: "The generated clinical notes of calls. They are kept as long as transcripts.",
  schemas: {
    SoapNote: {
      schema: soapNoteSchema,
      description: "The clinical note of a call.",
      fields: {
        id: "The id of the SOAP note.",
        text: "The full note, with the sections Subjective, Objective, Assessment and Plan.",
        is_final: "Whether the note is final. A final note does not change.",
      },
    },
  },
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/soap_note": {
      operationId: "getSoapNote",
      summary: "Get the SOAP note of a call",
      description: "A SOAP note can be read when the call has ended.",
      status: 200,
      response: { schema: soapNoteSchema, example: note },
      refusals: {
        404: "Something in the path does not exist, the client has no access to it, the call has not ended, or it has no SOAP note.",
      },
    },
  },
  platform: {
    "PUT /calls/:key/soap_note": {
      operationId: "reportSoapNote",
      summary: "Report the SOAP note of a call",
      description: `The first report needs both fields. A final note cannot be changed; repeating it is no error. The text can have up to ${MAX_NOTE_LENGTH} characters.`,
      status: 200,
      request: { fields: {}, example: { soap_note: { text: note.text, is_final: true } } },
      response: { schema: soapNoteSchema, example: note },
      refusals: {
        422: "The report would change a final SOAP note, or a first report lacks a field.",
        503: busy,
      },
    },
    "DELETE /calls/:key/soap_note": {
      operationId: "deleteSoapNote",
      summary: "Delete the SOAP note of a call",
      description: "If there is none, this is no error. A later report makes a new one.",
      status: 204,
      refusals: { 404: "The call does not exist.", 422: "The call is under legal hold." },
    },
  },
};
