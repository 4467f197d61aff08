import { callNotFound } from "../../calls/calls/calls.refusals.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { ETAG, type Reference } from "../../openapi/operation.ts";
import { REPORTED_AT } from "../../openapi/reports.ts";
import { deletionOf } from "../call_texts/call_texts.openapi.ts";
import { soapNoteNotFound, soapNoteRefusals } from "./soap_notes.merge.ts";
import { soapNoteSchema } from "./soap_notes.responses.ts";
import { reportSoapNoteBody } from "./soap_notes.schemas.ts";

export const soapNotesReference: Reference = {
  tag: "SOAP notes",
  description:
    "The generated clinical notes of calls. A call has at most one SOAP note. SOAP notes are kept as long as transcripts.",
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/soap_note": {
      operationId: "getSoapNote",
      headers: ETAG,
      summary: "Get the SOAP note of a call",
      description:
        "A SOAP note can be read once the call has ended, whether or not it is final. The `soap_note.finalized` event tells you that the final note can be read.",
      response: { schema: soapNoteSchema },
      refusals: {
        404: "Something in the path does not exist, the client has no access to it, the call has not ended, or the call has no SOAP note, for example because it is not available yet or was deleted.",
      },
      errors: [soapNoteNotFound()],
    },
    "DELETE /organization_users/:organization_user_id/calls/:call_id/soap_note": deletionOf(
      "deleteOwnSoapNote",
      "SOAP note",
    ),
  },
  platform: {
    "PUT /organizations/:organization_id/calls/:key/soap_note": {
      operationId: "reportSoapNote",
      summary: "Report the SOAP note of a call",
      description:
        "Reports a note, at any time. The first report needs both fields. A final note cannot be changed. Repeating it is not an error unless the organization has corrected it. A note that was deleted, on request or because its retention period ended, does not come back.",
      request: {
        fields: REPORTED_AT,
        example: {
          ...exampleBody(reportSoapNoteBody(), exampleOf(soapNoteSchema)),
          reported_at: "2026-01-31T10:05:00Z",
        },
      },
      response: { schema: soapNoteSchema },
      errors: [
        callNotFound(),
        soapNoteRefusals.wasDeleted(),
        soapNoteRefusals.isIncomplete(),
        soapNoteRefusals.isFinal(),
      ],
    },
    "DELETE /organizations/:organization_id/calls/:key/soap_note": {
      ...deletionOf("deleteSoapNote", "SOAP note"),
    },
  },
};
