import type * as z from "zod";
import { busyError, type Reference } from "../../openapi/operation.ts";
import { callKey } from "../calls/calls.openapi.ts";
import { soapNoteSchema } from "./soap_notes.responses.ts";

type SoapNote = z.input<typeof soapNoteSchema>;

const final: SoapNote = {
  id: 51,
  text: "Subjective: Feels better.\n\nObjective: No fever.\n\nAssessment: Recovering.\n\nPlan: Go on with the treatment.",
  is_final: true,
};

const draft: SoapNote = {
  ...final,
  text: "Subjective: Feels better.\n\nObjective:\n\nAssessment:\n\nPlan:",
  is_final: false,
};

export const soapNotesReference: Reference = {
  tag: "SOAP notes",
  description:
    "The generated clinical notes of calls. A call has at most one SOAP note, and may have none. They are kept as long as transcripts.",
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/soap_note": {
      operationId: "getSoapNote",
      summary: "Get the SOAP note of a call",
      description:
        "A SOAP note can be read when the call has ended, final or not. The event `soap_note.finalized` says that the final one can be read.",
      status: 200,
      response: { schema: soapNoteSchema, examples: { "A final note": final, "Not final yet": draft } },
      refusals: {
        404: "Something in the path does not exist, or the client has no access to it. Or the call has not ended, or has no SOAP note: the note is not there yet, for example, or was deleted.",
      },
      errors: { 404: ["SOAP note not found"] },
    },
  },
  platform: {
    "PUT /calls/:key/soap_note": {
      operationId: "reportSoapNote",
      summary: "Report the SOAP note of a call",
      description:
        "Reports a note, at any time. The first report needs both fields. A final note cannot be changed, but repeating it is no error.",
      status: 200,
      parameters: { key: callKey },
      request: {
        fields: {
          soap_note: "What is new about the note.",
          "soap_note.text":
            "The full note, with the sections Subjective, Objective, Assessment and Plan. It is kept as it is, with its line breaks; its content is not checked.",
          "soap_note.is_final": "Whether the note is final. True cannot be taken back.",
        },
        examples: {
          "A final note": { soap_note: { text: final.text, is_final: true } },
          "A note that is not final yet": { soap_note: { text: draft.text, is_final: false } },
          "A note becomes final as it is": { soap_note: { is_final: true } },
        },
      },
      response: { schema: soapNoteSchema, examples: { "A final note": final, "Not final yet": draft } },
      errors: {
        404: ["Call not found"],
        422: [
          "soap_note: text and is_final are required in the first report",
          "The SOAP note is final and cannot be changed",
        ],
        503: [busyError],
      },
    },
    "DELETE /calls/:key/soap_note": {
      operationId: "deleteSoapNote",
      summary: "Delete the SOAP note of a call",
      description: "If there is none, this is no error. A later report makes a new one, with a new id.",
      status: 204,
      parameters: { key: callKey },
      errors: {
        404: ["Call not found"],
        422: ["The call is under legal hold: end the hold first"],
      },
    },
  },
};
