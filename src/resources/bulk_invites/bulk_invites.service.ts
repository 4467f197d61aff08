import { and, asc, eq, sql } from "drizzle-orm";
import type { ClientContext, Context } from "../../context.ts";
import { insertFrom } from "../../database/legacy_insert.ts";
import { bulkInviteRows, bulkInvites } from "../../database/schema.ts";
import { notFound } from "../../http/errors.ts";
import { logFault } from "../../http/log.ts";
import { BULK_INVITE_CHUNK, QUEUE_SEND_LIMIT } from "../../limits.ts";
import type { InviteInput } from "../invites/invites.schemas.ts";
import { requireAssignable } from "../roles/roles.schemas.ts";
import type { BulkInvite, BulkInviteChunk, BulkInviteFailure } from "./bulk_invites.schemas.ts";

/** `bulk_invites` is named in full: Drizzle writes columns of a single table without it. */
const shown = {
  id: bulkInvites.id,
  total_count: bulkInvites.total_count,
  created_count: countOf("created").as("created_count"),
  failed_count: countOf("failed").as("failed_count"),
  created_at: bulkInvites.created_at,
  updated_at: bulkInvites.updated_at,
};

function countOf(status: "created" | "failed") {
  return sql<number>`(
    select count(*) from bulk_invite_rows
    where bulk_invite_rows.bulk_invite_id = bulk_invites.id and bulk_invite_rows.status = ${status})`;
}

/**
 * Stores the invites to be made, whole, and hands them to the queue. Where the queue does not take them, the cron
 * does so later: nothing is lost.
 *
 * @throws ApiError 422 where a row's roles are above the caller's level; nothing is stored then
 */
export async function createBulkInvite(context: ClientContext, rows: InviteInput[]): Promise<BulkInvite> {
  const { db, now, caller } = context;
  for (const [row, { role_names }] of rows.entries())
    requireAssignable(caller.roles, role_names, `organization_invites.${row}.role_names`);
  const { organization_id } = caller;
  const [[created]] = await db.batch([
    db
      .insert(bulkInvites)
      .values({ organization_id, total_count: rows.length, queued_at: now, created_at: now, updated_at: now })
      .returning(shown),
    insertFrom(db, bulkInviteRows, sql`from json_each(${JSON.stringify(rows)}) line`, [], {
      organization_id,
      // The newest bulk invite is the one that this transaction made.
      bulk_invite_id: sql`(select max(id) from bulk_invites)`,
      row: sql`line.key`,
      email: sql`line.value ->> 'email'`,
      display_name: sql`line.value ->> 'display_name'`,
      roles: sql`line.value ->> 'role_names'`,
      status: "pending",
    }),
  ]);
  if (!created) throw new Error("The insert gave no row");
  await sendChunks(context, chunksOf(created.id, rows.length)).catch((error) =>
    logFault({ bulk_invite_id: created.id }, error),
  );
  return created;
}

/** How far a bulk invite has come, and each row that made no invite. */
export async function requireBulkInvite(
  { db, caller }: ClientContext,
  id: number,
): Promise<{ bulkInvite: BulkInvite; failures: BulkInviteFailure[] }> {
  const { organization_id } = caller;
  const [[bulkInvite], failures] = await db.batch([
    db
      .select(shown)
      .from(bulkInvites)
      .where(and(eq(bulkInvites.id, id), eq(bulkInvites.organization_id, organization_id))),
    db
      .select({ row: bulkInviteRows.row, email: bulkInviteRows.email, error: bulkInviteRows.error })
      .from(bulkInviteRows)
      .where(
        and(
          eq(bulkInviteRows.bulk_invite_id, id),
          eq(bulkInviteRows.organization_id, organization_id),
          eq(bulkInviteRows.status, "failed"),
        ),
      )
      .orderBy(asc(bulkInviteRows.row)),
  ]);
  if (!bulkInvite) throw notFound("Bulk invite");
  return { bulkInvite, failures };
}

export function chunksOf(bulk_invite_id: number, total_count: number): BulkInviteChunk[] {
  return Array.from({ length: Math.ceil(total_count / BULK_INVITE_CHUNK) }, (_, n) => ({
    schema: "bulk_invite_chunk/1",
    bulk_invite_id,
    first_row: n * BULK_INVITE_CHUNK,
    last_row: Math.min((n + 1) * BULK_INVITE_CHUNK, total_count) - 1,
  }));
}

export async function sendChunks({ bulkInviteQueue }: Context, chunks: BulkInviteChunk[]) {
  for (let n = 0; n < chunks.length; n += QUEUE_SEND_LIMIT)
    await bulkInviteQueue.sendBatch(chunks.slice(n, n + QUEUE_SEND_LIMIT).map((body) => ({ body })));
}
