import type { bulkInviteRows, bulkInvites } from "../../database/schema.ts";
import { BULK_INVITE_CHUNK } from "../../limits.ts";
import type { InviteInput } from "../invites/invites.schemas.ts";
import type { BulkInvite, BulkInviteChunk } from "./bulk_invites.schemas.ts";

/** It counts as queued from the start: where that fails, it is marked. */
export const newBulkInvite = (
  organization_id: number,
  total_count: number,
  now: number,
): typeof bulkInvites.$inferInsert => ({
  organization_id,
  total_count,
  queued_at: now,
  created_at: now,
  updated_at: now,
});

/** The rows of a bulk invite whose id is not known yet. */
export const newRows = (
  organization_id: number,
  inputs: InviteInput[],
): Omit<typeof bulkInviteRows.$inferInsert, "bulk_invite_id">[] =>
  inputs.map(({ email, display_name, role_names }, row) => ({
    organization_id,
    row,
    email,
    display_name,
    roles: role_names,
    status: "pending",
  }));

/** The messages that together name each row once. */
export function chunksOf({ id, total_count }: Pick<BulkInvite, "id" | "total_count">): BulkInviteChunk[] {
  return Array.from({ length: Math.ceil(total_count / BULK_INVITE_CHUNK) }, (_, n) => ({
    schema: "bulk_invite_chunk/1",
    bulk_invite_id: id,
    first_row: n * BULK_INVITE_CHUNK,
    last_row: Math.min((n + 1) * BULK_INVITE_CHUNK, total_count) - 1,
  }));
}
