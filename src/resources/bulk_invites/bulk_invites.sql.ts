import { and, asc, between, count, eq, getTableColumns, max, type SQL, sql } from "drizzle-orm";
import type { BulkInviteRowStatus } from "../../database/enums.ts";
import { insertSelect, jsonFields } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, type Values } from "../../database/queries.ts";
import { bulkInviteRows, bulkInvites } from "../../database/schema.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { idempotencyOf } from "../idempotency_keys/idempotency_keys.sql.ts";

const countOf = (status: BulkInviteRowStatus) =>
  sql<number>`${builder
    .select({ count: count() })
    .from(bulkInviteRows)
    .where(and(eq(bulkInviteRows.bulk_invite_id, bulkInvites.id), eq(bulkInviteRows.status, status)))}`;

export const bulkInviteColumns = {
  ...getTableColumns(bulkInvites),
  created_count: countOf("created").as("created_count"),
  failed_count: countOf("failed").as("failed_count"),
};

export const bulkInviteFailureColumns = {
  row: bulkInviteRows.row,
  email: bulkInviteRows.email,
  error: bulkInviteRows.error,
};

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

export const bulkInviteWrites = tableWrites(bulkInvites, bulkInviteColumns);

export const bulkInviteIdempotency = idempotencyOf(bulkInviteWrites);

/** The id of the bulk invite that the transaction has just made. */
const newestId = builder.select({ id: max(bulkInvites.id) }).from(bulkInvites);

/** `rows` is a JSON array. They belong to the newest bulk invite. */
export const insertRows = preparedQuery(({ rows }: Placeholders<{ rows: string }>) =>
  insertSelect(
    bulkInviteRows,
    { ...jsonFields(bulkInviteRows), bulk_invite_id: newestId },
    sql`from json_each(${rows}) as item`,
  ),
);

export const newestBulkInvite = preparedQuery(() =>
  builder.select(bulkInviteColumns).from(bulkInvites).where(eq(bulkInvites.id, newestId)),
);

/** Which bulk invite a path names, and whose it must be, as values of a query. */
interface OwnBulkInvite {
  organization_id: number;
  id: number;
}

export const ownBulkInvite = preparedQuery(({ organization_id, id }: Placeholders<OwnBulkInvite>) =>
  builder
    .select(bulkInviteColumns)
    .from(bulkInvites)
    .where(and(eq(bulkInvites.id, id), eq(bulkInvites.organization_id, organization_id))),
);

export const failuresOfBulkInvite = preparedQuery(({ organization_id, id }: Placeholders<OwnBulkInvite>) =>
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
