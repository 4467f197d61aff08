import { and, asc, eq, gt, inArray, isNull, lt, notExists, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { coalesce, iif } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, runBatch } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { eachOf, isInTurn, rowid, rowsInTurn, type Turn, takeShares } from "../../database/turns.ts";
import { BULK_INVITE_PERSONAL_DATA_KEPT_FOR } from "../../lifetimes.ts";
import { CRON_PORTION } from "../../tuning.ts";
import { ROW_FAULTS } from "./bulk_invites.refusals.ts";
import { isPendingRow } from "./bulk_invites.sql.ts";
import { bulkInviteRows, bulkInvites } from "./bulk_invites.table.ts";

const { organization_id } = bulkInvites;

/** Pending rows fail, because an invite needs an email. Counts, statuses and errors stay. */
export function erasePersonalData({ db, now }: Context): Promise<number> {
  const created_before = now - BULK_INVITE_PERSONAL_DATA_KEPT_FOR;
  return takeShares(CRON_PORTION, async (turn) => {
    const old = { ...turn, now, created_before };
    const [rows] = await runBatch(db, [eraseRows(old), markErased(old)]);
    return rows;
  });
}

type Old = Turn & { now: number; created_before: number };

const isUnerased = isNull(bulkInvites.erased_at);

/** A comparison that can use the index on the email. */
const hasPersonalData: SQL = gt(bulkInviteRows.email, sql`''`);

const eraseRows = preparedQuery((old: Placeholders<Old>) => {
  const personalRowsOf = (owner_id: SQL) =>
    builder
      .select({ rowid: sql`${bulkInviteRows}.rowid`.as("rowid") })
      .from(bulkInvites)
      .crossJoin(bulkInviteRows)
      .where(
        and(
          eq(organization_id, owner_id),
          isUnerased,
          lt(bulkInvites.created_at, old.created_before),
          eq(bulkInviteRows.bulk_invite_id, bulkInvites.id),
          hasPersonalData,
        ),
      )
      .orderBy(asc(bulkInvites.created_at));
  return builder
    .update(bulkInviteRows)
    .set({
      email: "",
      address_digest: "",
      display_name: "",
      status: iif(isPendingRow, "failed", bulkInviteRows.status),
      error: iif(isPendingRow, ROW_FAULTS.notMade, bulkInviteRows.error),
    })
    .where(
      inArray(rowid, rowsInTurn(bulkInviteRows, eachOf(organization_id, isUnerased), personalRowsOf, old)),
    )
    .returning({ organization_id: bulkInviteRows.organization_id });
});

/** A bulk invite has at least one row, so a portion of rows belongs to at most as many of the oldest bulk invites. */
const markErased = preparedQuery((old: Placeholders<Old>) => {
  const unerasedRows = selectColumn(
    bulkInviteRows.row,
    eq(bulkInviteRows.bulk_invite_id, bulkInvites.id),
    hasPersonalData,
  );
  const { created_at: time } = bulkInvites;
  const oldest = { time, where: lt(time, old.created_before), indexed: isUnerased };
  return builder
    .update(bulkInvites)
    .set({
      erased_at: old.now,
      completed_at: coalesce(bulkInvites.completed_at, old.now),
      updated_at: iif(isNull(bulkInvites.completed_at), old.now, bulkInvites.updated_at),
    })
    .where(and(isInTurn(bulkInvites, oldest, old), notExists(unerasedRows)));
});
