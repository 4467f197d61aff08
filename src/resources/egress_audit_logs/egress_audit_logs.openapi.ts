import type * as z from "zod";
import { pageOf, paginationExample, type Reference } from "../../openapi/operation.ts";
import { egressMissing } from "../egresses/egresses.openapi.ts";
import { auditLogSchema } from "./egress_audit_logs.schemas.ts";

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
  user_id: null,
  object_changes: {
    status: ["egress_starting", "egress_ended"],
    is_stopped: [false, true],
    ended_at: [null, "2026-01-31T09:45:00.000Z"],
  },
  created_at: "2026-01-31T09:45:00.000Z",
};

export const egressAuditLogsReference: Reference = {
  tag: "Egress audit logs",
  description: "Who made, changed and read a recording.",
  schemas: {
    EgressAuditLog: {
      schema: auditLogSchema,
      description: "Something that happened to an egress.",
      fields: {
        id: "Identifies the entry.",
        event: "What happened: the egress was first reported, was changed, or was fetched for download.",
        user_id: "The user who caused it; null for the recording backend.",
        object_changes:
          "By field, the value before and the value after: on `create` from null, on `update` those that changed; null for `read`.",
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
        example: { audit_logs: [read, updated], pagination: { ...paginationExample, total_count: 2 } },
      },
      refusals: { 404: egressMissing },
    },
  },
};
