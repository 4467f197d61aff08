import { and, between, eq, exists, lt, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { insertFrom } from "../../database/legacy_insert.ts";
import { bulkInviteRows, bulkInvites, invites, organizationUsers, users } from "../../database/schema.ts";
import { BULK_INVITE_LOST_AFTER, BULK_INVITES_REQUEUED } from "../../limits.ts";
import { inviteExpiry } from "../invites/invites.schemas.ts";
import { isExpired, isPending } from "../invites/invites.sql.ts";
import type { BulkInviteChunk } from "./bulk_invites.schemas.ts";
import { chunksOf, sendChunks } from "./bulk_invites.service.ts";

/**
 * Makes the invites of a chunk's rows, in one transaction: each row that is pending ends as created or failed. Those
 * that have ended are left alone, so that a message which is delivered twice does nothing the second time.
 */
export async function processChunk({ db, now, settings }: Context, chunk: BulkInviteChunk) {
  const pending = pendingRows(chunk);
  const invitesOfRow = and(
    eq(invites.organization_id, bulkInviteRows.organization_id),
    eq(invites.email, bulkInviteRows.email),
  );
  const failWhere = (error: string, condition: SQL | undefined) =>
    db.update(bulkInviteRows).set({ status: "failed", error }).where(and(pending, condition));

  await db.batch([
    touch({ db, now }, chunk),
    failWhere(
      "The email is in an earlier row of the request",
      sql`exists (
        select 1 from bulk_invite_rows earlier
        where earlier.bulk_invite_id = bulk_invite_rows.bulk_invite_id
          and earlier.email = bulk_invite_rows.email and earlier.row < bulk_invite_rows.row)`,
    ),
    failWhere(
      "The email has an account in the organization",
      sql`exists (
        select 1 from ${organizationUsers} join ${users} on ${users.id} = ${organizationUsers.user_id}
        where ${organizationUsers.organization_id} = ${bulkInviteRows.organization_id}
          and ${users.email} = ${bulkInviteRows.email})`,
    ),
    failWhere(
      "The email has a pending invite",
      exists(
        db
          .select({ id: invites.id })
          .from(invites)
          .where(and(invitesOfRow, isPending(now))),
      ),
    ),
    db
      .delete(invites)
      .where(
        and(
          isExpired(now),
          exists(
            db.select({ row: bulkInviteRows.row }).from(bulkInviteRows).where(and(pending, invitesOfRow)),
          ),
        ),
      ),
    insertFrom(
      db,
      invites,
      sql`from ${bulkInviteRows} where ${pending} order by row`,
      ["organization_id", "email", "display_name", "roles"],
      { expires_at: inviteExpiry(settings, now), is_lapsed: false, created_at: now, updated_at: now },
    ),
    db.update(bulkInviteRows).set({ status: "created" }).where(pending),
  ]);
}

/** What becomes of a chunk that could not be processed, however often it was tried. */
export async function failChunk({ db, now }: Context, chunk: BulkInviteChunk) {
  await db.batch([
    touch({ db, now }, chunk),
    db
      .update(bulkInviteRows)
      .set({ status: "failed", error: "The invite could not be made; please invite this person again" })
      .where(pendingRows(chunk)),
  ]);
}

/** Queues again what was stored and never finished: the send was lost, or a message was. */
export async function requeueLostRows(context: Context) {
  const { db, now } = context;
  const lost = await db
    .update(bulkInvites)
    .set({ queued_at: now })
    .where(
      sql`id in (
        select bulk_invite.id from ${bulkInvites} bulk_invite
        where ${lt(sql`bulk_invite.queued_at`, now - BULK_INVITE_LOST_AFTER)} and bulk_invite.id in (
          select bulk_invite_id from bulk_invite_rows where status = 'pending')
        order by bulk_invite.queued_at limit ${BULK_INVITES_REQUEUED})`,
    )
    .returning({ id: bulkInvites.id, total_count: bulkInvites.total_count });
  await sendChunks(
    context,
    lost.flatMap(({ id, total_count }) => chunksOf(id, total_count)),
  );
  return lost.length;
}

function pendingRows({ bulk_invite_id, first_row, last_row }: BulkInviteChunk): SQL | undefined {
  return and(
    eq(bulkInviteRows.bulk_invite_id, bulk_invite_id),
    between(bulkInviteRows.row, first_row, last_row),
    eq(bulkInviteRows.status, "pending"),
  );
}

/** Goes ahead of what ends the rows: where none is pending, nothing changes. */
function touch({ db, now }: Pick<Context, "db" | "now">, chunk: BulkInviteChunk) {
  return db
    .update(bulkInvites)
    .set({ updated_at: now })
    .where(
      and(
        eq(bulkInvites.id, chunk.bulk_invite_id),
        exists(db.select({ row: bulkInviteRows.row }).from(bulkInviteRows).where(pendingRows(chunk))),
      ),
    );
}
