import { and, eq, exists, gt, isNotNull, isNull, lt, notExists, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Context } from "../../context.ts";
import { insertSelect } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, runBatch, type Value } from "../../database/queries.ts";
import { bulkInviteRows, bulkInvites, invites } from "../../database/schema.ts";
import { inviteExpiry } from "../invites/invites.merge.ts";
import { isPendingInviteOf } from "../invites/invites.sql.ts";
import { accountIdOf, membershipEndedAfter } from "../organization_users/organization_users.sql.ts";
import { ROW_FAULTS } from "./bulk_invites.refusals.ts";
import type { BulkInviteChunk } from "./bulk_invites.schemas.ts";
import { isPendingRow, pendingRows } from "./bulk_invites.sql.ts";

/**
 * Makes the invites of a chunk's rows, in one transaction: each row that is pending ends as created or failed. Rows
 * that have ended stay as they are, so a message that is delivered twice does nothing the second time.
 */
export async function processChunk({ db, now, settings }: Context, chunk: BulkInviteChunk): Promise<void> {
  const work = { ...chunk, now, expires_at: inviteExpiry(settings, now) };
  await runBatch(db, [
    touchBulkInvite(work),
    findFaults(work),
    insertInvites(work),
    endRows(work),
    completeBulkInvite(work),
  ]);
}

/** What becomes of a chunk that could not be processed, however often it was tried. */
export async function failChunk({ db, now }: Context, chunk: BulkInviteChunk): Promise<void> {
  const work = { ...chunk, now };
  await runBatch(db, [touchBulkInvite(work), failRows(work), completeBulkInvite(work)]);
}

/** The chunk to work off, and when. */
interface ChunkWork extends BulkInviteChunk {
  now: number;
}

/** Goes ahead of what ends the rows: where no row is pending, nothing changes. */
const touchBulkInvite = preparedQuery((work: Placeholders<ChunkWork>) =>
  builder
    .update(bulkInvites)
    .set({ updated_at: sql`${work.now}` })
    .where(
      and(
        eq(bulkInvites.id, work.bulk_invite_id),
        exists(builder.select({ row: bulkInviteRows.row }).from(bulkInviteRows).where(pendingRows(work))),
      ),
    ),
);

const earlierRows = alias(bulkInviteRows, "earlier_rows");

const isRepeated = exists(
  builder
    .select({ row: earlierRows.row })
    .from(earlierRows)
    .where(
      and(
        eq(earlierRows.bulk_invite_id, bulkInviteRows.bulk_invite_id),
        eq(earlierRows.email, bulkInviteRows.email),
        lt(earlierRows.row, bulkInviteRows.row),
      ),
    ),
);

const isAlreadyMember = isNotNull(accountIdOf(bulkInviteRows.organization_id, bulkInviteRows.email));

const requestedAt = builder
  .select({ created_at: bulkInvites.created_at })
  .from(bulkInvites)
  .where(eq(bulkInvites.id, bulkInviteRows.bulk_invite_id));

/** A request from before the end of a membership does not let the person in again. */
const membershipEnded = isNotNull(
  membershipEndedAfter(bulkInviteRows.organization_id, bulkInviteRows.email, requestedAt),
);

/** In ISO 8601, as the wire has times. */
const expiredAt = sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${invites.expires_at} / 1000.0, 'unixepoch')`;

/** The fault of a pending invite; null where the email has none. */
const faultOfInvite = (now: Value<number>) =>
  builder
    .select({
      fault: sql`iif(${gt(invites.expires_at, now)}, ${ROW_FAULTS.activeInvite},
        replace(${ROW_FAULTS.expiredInvite("{time}")}, '{time}', ${expiredAt}))`,
    })
    .from(invites)
    .where(isPendingInviteOf(bulkInviteRows.organization_id, bulkInviteRows.email));

/** Sets the error of the rows that cannot become invites. */
const findFaults = preparedQuery((work: Placeholders<ChunkWork>) =>
  builder
    .update(bulkInviteRows)
    .set({
      error: sql`case
        when ${isRepeated} then ${ROW_FAULTS.repeated}
        when ${isAlreadyMember} then ${ROW_FAULTS.account}
        when ${membershipEnded} then ${ROW_FAULTS.membershipEnded}
        else ${faultOfInvite(work.now)}
      end`,
    })
    .where(pendingRows(work)),
);

const insertInvites = preparedQuery((work: Placeholders<ChunkWork & { expires_at: number }>) =>
  insertSelect(
    invites,
    {
      organization_id: bulkInviteRows.organization_id,
      email: bulkInviteRows.email,
      display_name: bulkInviteRows.display_name,
      roles: bulkInviteRows.roles,
      expires_at: work.expires_at,
      created_at: work.now,
      updated_at: work.now,
    },
    sql`from ${bulkInviteRows} where ${and(pendingRows(work), isNull(bulkInviteRows.error))}
      order by ${bulkInviteRows.row}`,
  ),
);

const endRows = preparedQuery((work: Placeholders<ChunkWork>) =>
  builder
    .update(bulkInviteRows)
    .set({ status: sql`iif(${isNull(bulkInviteRows.error)}, 'created', 'failed')` })
    .where(pendingRows(work)),
);

const failRows = preparedQuery((work: Placeholders<ChunkWork>) =>
  builder
    .update(bulkInviteRows)
    .set({ status: "failed", error: ROW_FAULTS.notMade })
    .where(pendingRows(work)),
);

/** Comes after what ends the rows: the cron no longer looks at a bulk invite all rows of which have ended. */
const completeBulkInvite = preparedQuery((work: Placeholders<ChunkWork>) =>
  builder
    .update(bulkInvites)
    .set({ completed_at: sql`${work.now}` })
    .where(
      and(
        eq(bulkInvites.id, work.bulk_invite_id),
        isNull(bulkInvites.completed_at),
        notExists(
          builder
            .select({ row: bulkInviteRows.row })
            .from(bulkInviteRows)
            .where(and(eq(bulkInviteRows.bulk_invite_id, work.bulk_invite_id), isPendingRow)),
        ),
      ),
    ),
);
