import { exampleOf } from "../../openapi/examples.ts";
import { pageResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { SYSTEM_USER_ID } from "../../organization/members/organization_users.table.ts";
import { egressNotFound } from "../egresses/egresses.refusals.ts";
import { auditLogSchema } from "./egress_audit_logs.responses.ts";

const created = exampleOf(auditLogSchema);

const ended: typeof created = {
  ...created,
  id: 72,
  event: "update",
  user_id: SYSTEM_USER_ID,
  object_changes: {
    status: ["egress_starting", "egress_ended"],
    is_stopped: [false, true],
    ended_at: [null, story.ENDED_AT],
  },
  created_at: story.ENDED_AT,
};

const read: typeof created = {
  id: 73,
  event: "read",
  user_id: story.OLGA.user_id,
  object_changes: null,
  created_at: story.DOWNLOADED_AT,
};

const deleted: typeof created = {
  ...ended,
  id: 5210,
  object_changes: { status: ["egress_ended", "egress_deleted"] },
  created_at: story.RECORDING_DELETED_AT,
};

const failed: typeof created = {
  ...ended,
  id: 70,
  object_changes: { ...ended.object_changes, error: [null, "Start signal not received"] },
};

export const egressAuditLogsReference: Reference = {
  tag: "Egress audit logs",
  description:
    "A log of who created, changed and read a recording, and when. Entries are never changed or deleted. You can read them once the call has ended, even if a participant did not consent to the recording or withdrew their consent.",
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:egress_id/audit_logs": {
      operationId: "listEgressAuditLogs",
      summary: "List the audit log of an egress",
      description: "Newest first. `event`, `from` and `to` can be combined.",
      parameters: {
        egress_id: { description: "The `id` of the egress, not its `egress_id`.", example: story.EGRESS.id },
      },
      response: pageResponse("audit_logs", auditLogSchema, {
        "A recording that was downloaded once and later deleted": [deleted, read, ended, created],
        "A recording that failed": [failed],
        "Only reads": [read],
      }),
      refusals: {
        404: "Something in the path does not exist, the client has no access to it, or the call has not ended.",
      },
      errors: [egressNotFound()],
    },
  },
};
