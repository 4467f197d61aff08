import type * as z from "zod";
import { onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import { auditLogSchema } from "./egress_audit_logs.responses.ts";

const read: z.input<typeof auditLogSchema> = {
  id: 73,
  event: "read",
  user_id: 34,
  object_changes: null,
  created_at: "2026-01-31T10:00:00.000Z",
};

const updated: z.input<typeof auditLogSchema> = {
  id: 72,
  event: "update",
  user_id: 29,
  object_changes: {
    status: ["egress_starting", "egress_ended"],
    is_stopped: [false, true],
    ended_at: [null, "2026-01-31T09:45:00.000Z"],
  },
  created_at: "2026-01-31T09:45:00.000Z",
};

export const egressAuditLogsReference: Reference = {
  tag: "Egress audit logs",
  description:
    "Who created, changed and read a recording, and when. Entries are never changed or deleted. They can be read once the call has ended, even if a participant did not consent to the recording or withdrew the consent.",
  schemas: {
    EgressAuditLog: {
      schema: auditLogSchema,
      description: "An entry in the audit log of an egress.",
      fields: {
        id: "The id of the entry.",
        event:
          "`create`: the egress was reported for the first time. `update`: it changed. `read`: somebody fetched it for download.",
        user_id:
          "The user who caused the event. If the recording backend did, it is the user whom an earlier report of the recording named, else the user who held the call.",
        object_changes:
          "For each field, the old and the new value. `create`: the old value is null. `update`: only fields that changed. `read`: null instead of an object.",
        created_at: "When it happened.",
      },
    },
  },
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:egress_id/audit_logs": {
      operationId: "listEgressAuditLogs",
      summary: "List the audit log of an egress",
      description: "Newest first.",
      status: 200,
      response: {
        schema: pageOf("audit_logs", auditLogSchema),
        example: { audit_logs: [read, updated], pagination: onePage(2) },
      },
      refusals: {
        404: "Something in the path does not exist, the client has no access to it, or the call has not ended.",
      },
    },
  },
};
