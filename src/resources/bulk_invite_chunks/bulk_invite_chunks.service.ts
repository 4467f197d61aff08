import { and, asc, between, eq, isNull, notExists, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { greatest, hasValues, iif, least } from "../../database/expressions.ts";
import { insertSelect, jsonField, jsonFields, jsonRows } from "../../database/insert.ts";
import { livesHere } from "../../database/moves.ts";
import { builder, type Placeholders, preparedQuery, runBatch, type Values } from "../../database/queries.ts";
import { bulkInviteRows, bulkInvites, invites } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { totalOf } from "../../database/totals.ts";
import { MAX_UNUSED_INVITES } from "../../limits.ts";
import { BULK_INVITE_CHUNK } from "../../tuning.ts";
import { endRowsOfChunk } from "../bulk_invites/bulk_invites.merge.ts";
import { ROW_FAULTS } from "../bulk_invites/bulk_invites.refusals.ts";
import type { BulkInviteChunk } from "../bulk_invites/bulk_invites.schemas.ts";
import { failRowsWhere, isPendingRow, pendingRowColumns } from "../bulk_invites/bulk_invites.sql.ts";

/**
 * Makes the invites of a chunk's rows, in one transaction: each row that is pending ends as created or failed. Rows
 * that have ended stay as they are, so a message that is delivered twice does nothing the second time.
 */
export async function processChunk(
  { db, now, settings, mailer }: Context,
  chunk: BulkInviteChunk,
): Promise<void> {
  await decideAndWrite(
    db,
    [pendingRowsOf(chunk), placesForInvites(chunk)],
    (rows, [places]): Decision<unknown> => {
      if (rows.length === 0) return { unchanged: null };
      const { ends, invites } = endRowsOfChunk(rows, places?.count ?? 0, { settings, mailer }, now);
      const { bulk_invite_id } = chunk;
      return {
        writes: [
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

const pendingRowsOf = preparedQuery((chunk: Placeholders<BulkInviteChunk>) =>
  builder
    .select(pendingRowColumns)
    .from(bulkInviteRows)
    .innerJoin(bulkInvites, eq(bulkInvites.id, bulkInviteRows.bulk_invite_id))
    .where(and(inChunk(chunk), isPendingRow, livesHere(bulkInvites.organization_id)))
    .orderBy(asc(bulkInviteRows.row)),
);

/** How many invites the organization can still have. More than a chunk needs do not matter, so other invites rarely do. */
const placesForInvites = preparedQuery(({ bulk_invite_id }: Placeholders<BulkInviteChunk>) => {
  const unused = totalOf("invites", bulkInvites.organization_id);
  // D1 binds numbers as REAL, which the guard of a decision would see as others.
  const free = greatest(sql`${MAX_UNUSED_INVITES} - ${unused}`, 0);
  return builder
    .select({ count: sql<number>`cast(${least(free, BULK_INVITE_CHUNK)} as integer)`.as("count") })
    .from(bulkInvites)
    .where(eq(bulkInvites.id, bulk_invite_id));
});

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
