import { and, asc, between, eq, isNull, notExists, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { coalesce, greatest, hasValues, iif, least, scalar } from "../../database/expressions.ts";
import { insertSelect, jsonField, jsonFields, jsonRows } from "../../database/insert.ts";
import { livesHere } from "../../database/moves.ts";
import { builder, type Placeholders, preparedQuery, runBatch, type Values } from "../../database/queries.ts";
import { bulkInviteRows, bulkInvites, invites, organizationDays } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { totalOf } from "../../database/totals.ts";
import { dateOf } from "../../http/dates.ts";
import { MAX_ORGANIZATION_MAILS, MAX_UNUSED_INVITES } from "../../limits.ts";
import { BULK_INVITE_CHUNK } from "../../tuning.ts";
import { endRowsOfChunk } from "../bulk_invites/bulk_invites.merge.ts";
import { ROW_FAULTS } from "../bulk_invites/bulk_invites.refusals.ts";
import type { BulkInviteChunk } from "../bulk_invites/bulk_invites.schemas.ts";
import {
  failRowsWhere,
  isPendingRow,
  mailsToAddress,
  pendingRowColumns,
} from "../bulk_invites/bulk_invites.sql.ts";
import { countMails, dayOf } from "../invite_mails/invite_mails.limits.ts";

/**
 * Makes the invites of a chunk's rows, in one transaction: each row that is pending ends as created or failed. Rows
 * that have ended stay as they are, so a message that is delivered twice does nothing the second time.
 */
export async function processChunk(context: Context, chunk: BulkInviteChunk): Promise<void> {
  const { db, now, settings, mailer } = context;
  await decideAndWrite(
    db,
    [pendingRowsOf({ ...chunk, day: dayOf(now) }), placesForInvites({ ...chunk, date: dateOf(now) })],
    (rows, [left]): Decision<unknown> => {
      const [first] = rows;
      if (!first || !left) return { unchanged: null };
      const { ends, invites, mailed } = endRowsOfChunk(rows, left, { settings, mailer }, now);
      const { bulk_invite_id } = chunk;
      return {
        writes: [
          ...countMails(context, first.organization_id, mailed),
          insertInvites({ invites: JSON.stringify(invites) }),
          endRows({ bulk_invite_id, ends: JSON.stringify(ends) }),
          finishChunk({ bulk_invite_id, now }),
        ],
      };
    },
  );
}

/** What becomes of a chunk that could not be processed, however often it was tried. */
export async function failChunk({ db, now }: Context, chunk: BulkInviteChunk): Promise<void> {
  await runBatch(db, failRowsOf({ ...chunk, now, error: ROW_FAULTS.notMade }));
}

const inChunk = ({ bulk_invite_id, first_row, last_row }: Values<Omit<BulkInviteChunk, "schema">>) =>
  and(eq(bulkInviteRows.bulk_invite_id, bulk_invite_id), between(bulkInviteRows.row, first_row, last_row));

const failRowsOf = failRowsWhere((chunk: Placeholders<BulkInviteChunk>) => ({
  ofBulkInvites: eq(bulkInvites.id, chunk.bulk_invite_id),
  ofRows: inChunk(chunk),
}));

const pendingRowsOf = preparedQuery((chunk: Placeholders<BulkInviteChunk & { day: number }>) =>
  builder
    .select({ ...pendingRowColumns, mails_to_address: mailsToAddress(chunk.day) })
    .from(bulkInviteRows)
    .innerJoin(bulkInvites, eq(bulkInvites.id, bulkInviteRows.bulk_invite_id))
    .where(and(inChunk(chunk), isPendingRow, livesHere(bulkInvites.organization_id)))
    .orderBy(asc(bulkInviteRows.row)),
);

/**
 * How many invites the organization can still have, and mails it can still send on the day. More than a chunk needs do not
 * matter, so other invites rarely do.
 */
const placesForInvites = preparedQuery(
  ({ bulk_invite_id, date }: Placeholders<BulkInviteChunk & { date: string }>) => {
    const { organization_id } = bulkInvites;
    const mails = selectColumn(
      organizationDays.mails,
      hasValues(organizationDays, { organization_id, date }),
    );
    return builder
      .select({
        places: leftOf(MAX_UNUSED_INVITES, totalOf("invites", organization_id)).as("places"),
        mails: leftOf(MAX_ORGANIZATION_MAILS, coalesce(scalar(mails), 0)).as("mails"),
      })
      .from(bulkInvites)
      .where(eq(bulkInvites.id, bulk_invite_id));
  },
);

/** D1 binds numbers as REAL, which the guard of a decision would see as others. */
const leftOf = (most: number, used: SQL) =>
  sql<number>`cast(${least(greatest(sql`${most} - ${used}`, 0), BULK_INVITE_CHUNK)} as integer)`;

/** @param invites a JSON array */
const insertInvites = preparedQuery(({ invites: made }: Placeholders<{ invites: string }>) =>
  insertSelect(invites, jsonFields(invites), { from: jsonRows(made) }),
);

/** @param ends a JSON array of `RowEnd` */
const endRows = preparedQuery(
  ({ bulk_invite_id, ends }: Placeholders<{ bulk_invite_id: number; ends: string }>) =>
    builder
      .update(bulkInviteRows)
      .set({ status: iif(isNull(jsonField("error")), "created", "failed"), error: jsonField("error") })
      .from(jsonRows(ends))
      .where(hasValues(bulkInviteRows, { bulk_invite_id, row: jsonField("row") })),
);

/** Comes after what ends the rows: the cron no longer looks at a bulk invite all rows of which have ended. */
const finishChunk = preparedQuery(
  ({ bulk_invite_id, now }: Placeholders<{ bulk_invite_id: number; now: number }>) => {
    const pending = selectColumn(
      bulkInviteRows.row,
      eq(bulkInviteRows.bulk_invite_id, bulk_invite_id),
      isPendingRow,
    );
    return builder
      .update(bulkInvites)
      .set({ updated_at: now, completed_at: iif(notExists(pending), now, null) })
      .where(eq(bulkInvites.id, bulk_invite_id))
      .returning({ id: bulkInvites.id });
  },
);
