import * as z from "zod";
import { AUDIT_EVENTS } from "../../database/enums.ts";
import { id, key, timestamp } from "../../http/wire.ts";
import { named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { SYSTEM_USER_ID } from "../../organization/members/organization_users.table.ts";
import { egressStatus } from "../egresses/egresses.responses.ts";
import { egressError } from "../egresses/egresses.schemas.ts";

/** The old and the new value. Either can be null. Not a tuple, because SDK generators do not support tuples. */
const change = <Value extends z.ZodType>(value: Value) => z.array(value).length(2).optional();

const objectChangesSchema = z.object({
  egress_id: change(key().nullable()).describe("The old and the new `egress_id`."),
  status: change(egressStatus().nullable()).describe("The old and the new `status`."),
  error: change(egressError()).describe("The old and the new `error`."),
  is_stopped: change(z.boolean().nullable()).describe("The old and the new `is_stopped`."),
  ended_at: change(timestamp().nullable()).describe("The old and the new `ended_at`."),
});

export const auditLogSchema = named("EgressAuditLog", "An entry in the audit log of an egress.", {
  id: id().meta({
    description:
      "The id of the entry. For a `read`, the returned download URL contains this id as `x-audit-log-id`.",
    example: 71,
  }),
  event: z.enum(AUDIT_EVENTS).meta({
    description:
      "`create`: the egress was reported for the first time. `update`: the egress changed, or its file was deleted. `read`: someone fetched the egress for download.",
    example: "create",
  }),
  user_id: id().meta({
    description: `The user who caused the event. For \`read\`, and if the organization deleted the file, this is the user of the API client; otherwise, the user named in the report. If no user is named, as for the recorder, LiveKit, retention or a deletion by the platform, it is the service's own user, System, which has the id ${SYSTEM_USER_ID} and is in no list.`,
    example: story.PAULA.user_id,
  }),
  object_changes: objectChangesSchema.nullable().meta({
    description:
      "The changed fields, each with a list of the old and the new value. `create`: the fields that are not null, with null as the old value. `update`: only the fields that changed. `read`: null instead of an object. More fields may be added.",
    example: {
      egress_id: [null, story.EGRESS.egress_id],
      status: [null, "egress_starting"],
      is_stopped: [null, false],
    },
  }),
  created_at: timestamp().meta({ description: "When the event happened.", example: story.RECORDED_FROM }),
});

export type ObjectChanges = z.input<typeof objectChangesSchema>;
