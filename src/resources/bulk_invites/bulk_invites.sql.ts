import { and, asc, between, count, eq, type SQL, sql } from "drizzle-orm";
import type { BulkInviteRowStatus } from "../../database/enums.ts";
import { builder, namedQuery, type Placeholders, type Values } from "../../database/queries.ts";
import { bulkInviteRows, bulkInvites } from "../../database/schema.ts";

const countOf = (status: BulkInviteRowStatus) =>
  sql<number>`${builder
    .select({ count: count() })
    .from(bulkInviteRows)
    .where(and(eq(bulkInviteRows.bulk_invite_id, bulkInvites.id), eq(bulkInviteRows.status, status)))}`;

export const bulkInviteColumns = {
  id: bulkInvites.id,
  total_count: bulkInvites.total_count,
  created_count: countOf("created").as("created_count"),
  failed_count: countOf("failed").as("failed_count"),
  created_at: bulkInvites.created_at,
  updated_at: bulkInvites.updated_at,
};

export const bulkInviteFailureColumns = {
  row: bulkInviteRows.row,
  email: bulkInviteRows.email,
  error: bulkInviteRows.error,
};

/** The error of a row that failed for a reason that is not its own. */
export const COULD_NOT_BE_MADE = "The invite could not be made; please invite this person again";

/** True for the rows that are neither created nor failed. */
export const isPendingRow = eq(bulkInviteRows.status, "pending");

/** True for the rows of a chunk that are pending. */
export const pendingRows = (
  chunk: Values<{ bulk_invite_id: number; first_row: number; last_row: number }>,
): SQL | undefined =>
  and(
    eq(bulkInviteRows.bulk_invite_id, chunk.bulk_invite_id),
    between(bulkInviteRows.row, chunk.first_row, chunk.last_row),
    isPendingRow,
  );

/** Which bulk invite a path names, and whose it must be, as values of a query. */
interface OwnBulkInvite {
  organization_id: number;
  id: number;
}

export const ownBulkInvite = namedQuery(({ organization_id, id }: Placeholders<OwnBulkInvite>) =>
  builder
    .select(bulkInviteColumns)
    .from(bulkInvites)
    .where(and(eq(bulkInvites.id, id), eq(bulkInvites.organization_id, organization_id))),
);

export const failuresOfBulkInvite = namedQuery(({ organization_id, id }: Placeholders<OwnBulkInvite>) =>
  builder
    .select(bulkInviteFailureColumns)
    .from(bulkInviteRows)
    .where(
      and(
        eq(bulkInviteRows.bulk_invite_id, id),
        eq(bulkInviteRows.organization_id, organization_id),
        eq(bulkInviteRows.status, "failed"),
      ),
    )
    .orderBy(asc(bulkInviteRows.row)),
);
