import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { toTimestamp } from "../../http/wire.ts";
import { MAX_BULK_INVITES } from "../../limits.ts";
import { inviteInput } from "../invites/invites.schemas.ts";
import { NO_RETURN_IN_BULK, TOO_MANY_ROWS } from "./bulk_invites.refusals.ts";
import type { bulkInviteFailureSchema, bulkInviteSchema } from "./bulk_invites.responses.ts";
import type { bulkInviteColumns, bulkInviteFailureColumns, pendingRowColumns } from "./bulk_invites.sql.ts";

export const createBulkInviteBody = () =>
  z.object({
    organization_invites: z
      .array(inviteInput().extend({ returning_user_id: z.never(NO_RETURN_IN_BULK).optional() }))
      .min(1, "must hold at least one invite")
      .max(MAX_BULK_INVITES, TOO_MANY_ROWS),
  });

export type BulkInvite = Row<typeof bulkInviteColumns>;

export type PendingRow = Row<typeof pendingRowColumns> & { mails_to_address: number };

export type BulkInviteFailure = Row<typeof bulkInviteFailureColumns>;

export function toBulkInvite(row: BulkInvite): z.input<typeof bulkInviteSchema> {
  return {
    id: row.id,
    status: row.created_count + row.failed_count < row.total_count ? "pending" : "completed",
    total_count: row.total_count,
    created_count: row.created_count,
    failed_count: row.failed_count,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  };
}

export function toFailure(row: BulkInviteFailure): z.input<typeof bulkInviteFailureSchema> {
  return { row: row.row, email: row.email || null, error: row.error ?? "" };
}
