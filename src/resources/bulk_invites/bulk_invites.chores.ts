import { and, asc, eq, gt, inArray, isNull, lt, notExists, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { builder, type Placeholders, preparedQuery, runAll, runBatch } from "../../database/queries.ts";
import { bulkInviteRows, bulkInvites } from "../../database/schema.ts";
import { log } from "../../http/log.ts";
import {
  BULK_INVITE_LOST_AFTER,
  BULK_INVITE_PERSONAL_DATA_KEPT_FOR,
  BULK_INVITES_REQUEUED,
  CRON_PORTION,
} from "../../limits.ts";
import { ROW_FAULTS } from "./bulk_invites.refusals.ts";
import { queueRows } from "./bulk_invites.service.ts";
import { isPendingRow } from "./bulk_invites.sql.ts";

/** Queues again the rows that were stored and did not end: sending them failed, or a message was lost. */
export async function requeueLostRows(context: Context): Promise<number> {
  const { db, now } = context;
  const lost = await runAll(db, claimLostBulkInvites({ now, lost_before: now - BULK_INVITE_LOST_AFTER }));
  await queueRows(context, lost);
  for (const { id } of lost) log("bulk_invite_requeued", { bulk_invite_id: id });
  return lost.length;
}

/** Sets `queued_at` before the rows are sent, so that of two crons only one sends them. */
const claimLostBulkInvites = preparedQuery(
  ({ now, lost_before }: Placeholders<{ now: number; lost_before: number }>) =>
    builder
      .update(bulkInvites)
      .set({ queued_at: sql`${now}` })
      .where(
        inArray(
          bulkInvites.id,
          builder
            .select({ id: bulkInvites.id })
            .from(bulkInvites)
            .where(and(isNull(bulkInvites.completed_at), lt(bulkInvites.queued_at, lost_before)))
            .orderBy(asc(bulkInvites.queued_at))
            .limit(BULK_INVITES_REQUEUED),
        ),
      )
      .returning({ id: bulkInvites.id, total_count: bulkInvites.total_count }),
);

/**
 * Deletes the emails and names of old bulk invites, a portion in one run. Rows that are still pending fail, because
 * nobody can be invited without an email. Counts, statuses and errors stay.
 */
export async function erasePersonalData({ db, now }: Context): Promise<number> {
  const old = { now, created_before: now - BULK_INVITE_PERSONAL_DATA_KEPT_FOR };
  const [erased] = await runBatch(db, [eraseRows(old), markErased(old)]);
  return erased.length;
}

interface Old {
  now: number;
  created_before: number;
}

/** Each has at least one row, so a portion of bulk invites is enough for a portion of rows. */
const oldBulkInvites = ({ created_before }: Placeholders<Old>) =>
  builder
    .select({ id: bulkInvites.id })
    .from(bulkInvites)
    .where(and(isNull(bulkInvites.erased_at), lt(bulkInvites.created_at, created_before)))
    .orderBy(asc(bulkInvites.created_at))
    .limit(CRON_PORTION);

/** True for the rows that still have their email. A comparison that the index by email can serve. */
const hasPersonalData: SQL = gt(bulkInviteRows.email, sql`''`);

const eraseRows = preparedQuery((old: Placeholders<Old>) => {
  const rows = builder
    .select({ bulk_invite_id: bulkInviteRows.bulk_invite_id, row: bulkInviteRows.row })
    .from(bulkInviteRows)
    .where(and(inArray(bulkInviteRows.bulk_invite_id, oldBulkInvites(old)), hasPersonalData))
    .limit(CRON_PORTION);
  return builder
    .update(bulkInviteRows)
    .set({
      email: "",
      display_name: "",
      status: sql`iif(${isPendingRow}, 'failed', ${bulkInviteRows.status})`,
      error: sql`iif(${isPendingRow}, ${ROW_FAULTS.notMade}, ${bulkInviteRows.error})`,
    })
    .where(sql`(${bulkInviteRows.bulk_invite_id}, ${bulkInviteRows.row}) in ${rows}`)
    .returning({ row: bulkInviteRows.row });
});

const markErased = preparedQuery((old: Placeholders<Old>) => {
  const unerasedRows = builder
    .select({ row: bulkInviteRows.row })
    .from(bulkInviteRows)
    .where(and(eq(bulkInviteRows.bulk_invite_id, bulkInvites.id), hasPersonalData));
  return builder
    .update(bulkInvites)
    .set({
      erased_at: sql`${old.now}`,
      completed_at: sql`coalesce(${bulkInvites.completed_at}, ${old.now})`,
      updated_at: sql`iif(${bulkInvites.completed_at} is null, ${old.now}, ${bulkInvites.updated_at})`,
    })
    .where(and(inArray(bulkInvites.id, oldBulkInvites(old)), notExists(unerasedRows)));
});
