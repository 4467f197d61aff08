import {
  and,
  asc,
  eq,
  exists,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  notExists,
  type SQL,
  sql,
  sum,
} from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import type { BulkInviteRowStatus } from "../../database/enums.ts";
import { coalesce, hasValues, scalar } from "../../database/expressions.ts";
import { insertRows } from "../../database/insert.ts";
import {
  type BoundQuery,
  builder,
  type Placeholders,
  preparedQuery,
  type Statement,
  type Value,
} from "../../database/queries.ts";
import { isNewest, newestId, rowsBy, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import type { OwnPath } from "../../http/wire.ts";
import { MAX_BULK_ROWS } from "../../limits.ts";
import { idempotencyOf } from "../../organization/idempotency_keys/idempotency_keys.sql.ts";
import { accountIdOf, type OfEmail, type OfMember } from "../../organization/members/members.sql.ts";
import { includesAnyRole } from "../../organization/roles/roles.sql.ts";
import { mailedAddresses } from "../invite_mails/invite_mails.table.ts";
import { isPendingInviteOf } from "../invites/invites.sql.ts";
import { invites } from "../invites/invites.table.ts";
import type { NewBulkInviteRow } from "./bulk_invites.merge.ts";
import { bulkInviteRows, bulkInvites } from "./bulk_invites.table.ts";

const countOf = (status: BulkInviteRowStatus) =>
  builder.$count(bulkInviteRows, hasValues(bulkInviteRows, { bulk_invite_id: bulkInvites.id, status }));

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

const earlierRows = alias(bulkInviteRows, "earlier_rows");

const { organization_id, bulk_invite_id, email, address_digest, row } = bulkInviteRows;

const isRepeated = exists(
  selectColumn(earlierRows.row, hasValues(earlierRows, { bulk_invite_id, email }), lt(earlierRows.row, row)),
);

const isPending = isPendingInviteOf(organization_id, email);

export const mailsToAddress = (day: Value<number>) => {
  const ofAddress = hasValues(mailedAddresses, { organization_id, day, address_digest });
  return coalesce(scalar(selectColumn(mailedAddresses.count, ofAddress)), 0).as("mails_to_address");
};

export const pendingRowColumns = {
  ...getTableColumns(bulkInviteRows),
  created_by_user_id: bulkInvites.created_by_user_id,
  is_repeated: isRepeated.mapWith(Boolean).as("is_repeated"),
  has_account: isNotNull(accountIdOf(organization_id, email)).mapWith(Boolean).as("has_account"),
  pending_id: scalar(selectColumn(invites.id, isPending)).as("pending_id"),
  pending_until: scalar(selectColumn(invites.expires_at, isPending)).as("pending_until"),
};

export const isPendingRow = eq(bulkInviteRows.status, "pending");

function failRowsWhere<Values extends object>(
  conditions: (values: Placeholders<Values>) => Record<"ofBulkInvites" | "ofRows", SQL | undefined>,
) {
  type Failure = Values & { now: number; error: string };
  const statement = <S extends Statement>(
    build: (failure: Placeholders<Failure>, ofBulkInvites: SQL | undefined, ofRows: SQL | undefined) => S,
  ) =>
    preparedQuery((failure: Placeholders<Failure>) => {
      const { ofBulkInvites, ofRows } = conditions(failure as unknown as Placeholders<Values>);
      return build(failure, ofBulkInvites, and(ofRows, isPendingRow));
    });
  // Must run before `fail`: it updates only bulk invites that still have rows to fail.
  const touch = statement((failure, ofBulkInvites, ofRows) =>
    builder
      .update(bulkInvites)
      .set({ updated_at: failure.now })
      .where(and(ofBulkInvites, exists(rowsOfBulkInvite(ofRows)))),
  );
  const fail = statement((failure, ofBulkInvites, ofRows) => {
    const ids = selectColumn(bulkInvites.id, ofBulkInvites);
    return builder
      .update(bulkInviteRows)
      .set({ status: "failed", error: failure.error })
      .where(and(inArray(bulkInviteRows.bulk_invite_id, ids), ofRows));
  });
  const complete = statement((failure, ofBulkInvites) =>
    builder
      .update(bulkInvites)
      .set({ completed_at: failure.now })
      .where(and(ofBulkInvites, isNull(bulkInvites.completed_at), notExists(rowsOfBulkInvite(isPendingRow)))),
  );
  return (failure: Failure): BoundQuery<unknown>[] => [touch(failure), fail(failure), complete(failure)];
}

const rowsOfBulkInvite = (condition: SQL | undefined) =>
  selectColumn(bulkInviteRows.row, eq(bulkInviteRows.bulk_invite_id, bulkInvites.id), condition);

/** A member's pending rows that give one of these roles (a JSON array). */
export const failRowsSentBy = failRowsWhere(
  ({ organization_id, user_id, roles }: Placeholders<OfMember & { roles: string }>) => ({
    ofBulkInvites: and(
      hasValues(bulkInvites, { organization_id, created_by_user_id: user_id }),
      isNull(bulkInvites.completed_at),
    ),
    ofRows: includesAnyRole(bulkInviteRows.roles, roles),
  }),
);

export const failRowsTo = failRowsWhere(({ organization_id, email }: Placeholders<OfEmail>) => ({
  ofBulkInvites: and(eq(bulkInvites.organization_id, organization_id), isNull(bulkInvites.completed_at)),
  ofRows: eq(bulkInviteRows.email, email),
}));

/** A boolean, because a count would make concurrent bulk invites conflict. */
export const bulkInviteQuota = preparedQuery(
  (sent: Placeholders<{ organization_id: number; since: number; total_count: number }>) =>
    builder
      .select({
        is_beyond: sql`${coalesce(sum(bulkInvites.total_count), 0)} + ${sent.total_count} > ${MAX_BULK_ROWS}`
          .mapWith(Boolean)
          .as("is_beyond"),
      })
      .from(bulkInvites)
      .where(
        and(eq(bulkInvites.organization_id, sent.organization_id), gt(bulkInvites.created_at, sent.since)),
      ),
);

export const bulkInviteWrites = tableWrites(bulkInvites, bulkInviteColumns);

export const bulkInviteIdempotency = idempotencyOf(bulkInviteWrites, {});

export const insertBulkInviteRows = insertRows<typeof bulkInviteRows, NewBulkInviteRow>(bulkInviteRows, {
  computed: { bulk_invite_id: newestId(bulkInvites) },
});

export const newestBulkInvite = preparedQuery(() =>
  builder.select(bulkInviteColumns).from(bulkInvites).where(isNewest(bulkInvites)),
);

/** One entry for the whole bulk invite, because its invites do not exist yet. */
export const bulkInviteEntry = entriesWhere("invite", bulkInvites, {
  organization_id: bulkInvites.organization_id,
  resource_id: null,
})((_: object) => isNewest(bulkInvites));

export const ownBulkInvite = rowsBy(bulkInvites, bulkInviteColumns, "id", "organization_id");

export const failuresOfBulkInvite = preparedQuery(({ organization_id, id }: Placeholders<OwnPath>) =>
  builder
    .select(bulkInviteFailureColumns)
    .from(bulkInviteRows)
    .where(hasValues(bulkInviteRows, { bulk_invite_id: id, organization_id, status: "failed" }))
    .orderBy(asc(bulkInviteRows.row)),
);
