import * as z from "zod";
import { callParams } from "../../calls/calls/calls.schemas.ts";
import { AUDIT_EVENTS } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { inOrder } from "../../http/dates.ts";
import { pageQuery } from "../../http/pagination.ts";
import { day, pathId, toTimestamp } from "../../http/wire.ts";
import { AUDITED_FIELDS } from "./audited_fields.ts";
import type { auditLogSchema, ObjectChanges } from "./egress_audit_logs.responses.ts";
import type { auditLogColumns } from "./egress_audit_logs.sql.ts";

export const auditLogParams = () => callParams().extend({ egress_id: pathId() });

export const auditLogQuery = () =>
  inOrder(
    pageQuery().extend({
      event: z.enum(AUDIT_EVENTS).optional(),
      from: day().optional(),
      to: day().optional(),
    }),
  );

export type AuditLog = Row<typeof auditLogColumns>;

export const toAuditLog = (row: AuditLog): z.input<typeof auditLogSchema> => ({
  id: row.id,
  event: row.event,
  user_id: row.user_id,
  object_changes: row.object_changes && toObjectChanges(row.object_changes),
  created_at: toTimestamp(row.created_at),
});

const toObjectChanges = (changes: NonNullable<AuditLog["object_changes"]>) =>
  Object.fromEntries(
    Object.entries(changes).map(([field, values]) => [
      field,
      values.map((value) => (value === null ? null : toWireValue(field, value))),
    ]),
  ) as ObjectChanges;

function toWireValue(field: string, stored: unknown): unknown {
  const kind = Object.entries(AUDITED_FIELDS).find(([name]) => name === field)?.[1];
  if (kind === "time") return toTimestamp(stored as number);
  return kind === "boolean" ? Boolean(stored) : stored;
}
