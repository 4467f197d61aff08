import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import { REPORTED_AT } from "../../openapi/reports.ts";
import { deletionOperation, ownDeletionOperation } from "../call_texts/call_texts.openapi.ts";
import { callKey } from "../calls/calls.openapi.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import { soapNoteNotFound, soapNoteRefusals } from "./soap_notes.refusals.ts";
import { soapNoteSchema } from "./soap_notes.responses.ts";
import { reportSoapNoteBody } from "./soap_notes.schemas.ts";

const final = exampleOf(soapNoteSchema);

const draft: typeof final = {
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
      response: { schema: soapNoteSchema, examples: { "A final note": final, "Not final yet": draft } },
      refusals: {
        404: "Something in the path does not exist, or the client has no access to it. Or the call has not ended, or has no SOAP note: the note is not there yet, for example, or was deleted.",
      },
      errors: [soapNoteNotFound()],
    },
    "DELETE /organization_users/:organization_user_id/calls/:call_id/soap_note": ownDeletionOperation(
      "deleteOwnSoapNote",
      "SOAP note",
    ),
  },
  platform: {
    "PUT /organizations/:organization_id/calls/:key/soap_note": {
      operationId: "reportSoapNote",
      summary: "Report the SOAP note of a call",
      description:
        "Reports a note, at any time. The first report needs both fields. A final note cannot be changed, but repeating it is no error, unless the organization has corrected it. A note that was deleted, at a request or because it was too old, does not come back.",
      parameters: { key: callKey },
      request: {
        fields: REPORTED_AT,
        examples: {
          "A final note": {
            ...exampleBody(reportSoapNoteBody(), final),
            reported_at: "2026-01-31T10:05:00Z",
          },
          "A note that is not final yet": exampleBody(reportSoapNoteBody(), draft),
          "A note becomes final as it is": { soap_note: { is_final: true } },
        },
      },
      response: { schema: soapNoteSchema, examples: { "A final note": final, "Not final yet": draft } },
      errors: [
        callNotFound(),
        soapNoteRefusals.wasDeleted(),
        soapNoteRefusals.isIncomplete(),
        soapNoteRefusals.isFinal(),
      ],
    },
    "DELETE /organizations/:organization_id/calls/:key/soap_note": deletionOperation(
      "deleteSoapNote",
      "SOAP note",
    ),
  },
};
