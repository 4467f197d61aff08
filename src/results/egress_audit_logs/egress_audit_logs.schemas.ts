import * as z from "zod";
import { callParams } from "../../calls/calls/calls.schemas.ts";
import { AUDIT_EVENTS } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { inOrder } from "../../http/dates.ts";
import { pageQuery } from "../../http/pagination.ts";
import { day, pathId, toTimestamp, toTimestampOrNull } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import { auditedKind } from "./audited_fields.ts";
import type { auditLogSchema, ObjectChanges } from "./egress_audit_logs.responses.ts";
import type { auditLogColumns } from "./egress_audit_logs.sql.ts";

export const auditLogParams = lazily(() => callParams().extend({ egress_id: pathId() }));

export const auditLogQuery = lazily(() =>
  inOrder(
    pageQuery().extend({
      event: z.enum(AUDIT_EVENTS).optional(),
      from: day().optional(),
      to: day().optional(),
    }),
  ),
);

export type AuditLog = Row<typeof auditLogColumns>;

export function toAuditLog(row: AuditLog): z.input<typeof auditLogSchema> {
  return {
    id: row.id,
    event: row.event,
    user_id: row.user_id,
    object_changes: row.object_changes && toObjectChanges(row.object_changes),
    created_at: toTimestamp(row.created_at),
  };
}

function toObjectChanges(changes: NonNullable<AuditLog["object_changes"]>): ObjectChanges {
  return Object.fromEntries(
    Object.entries(changes).map(([field, [before, after]]) => [
      field,
      [toWireValue(field, before), toWireValue(field, after)],
    ]),
  ) as ObjectChanges;
}

function toWireValue(field: string, stored: unknown): unknown {
  switch (auditedKind(field)) {
    case "time":
      return toTimestampOrNull(stored as number | null);
    case "boolean":
      return stored === null ? null : Boolean(stored);
    default:
      return stored;
  }
}
