import { and, eq, exists, inArray, isNull, lt, notExists, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Context } from "../../context.ts";
import { insertSelect } from "../../database/insert.ts";
import { builder, namedQuery, type Placeholders, runBatch } from "../../database/queries.ts";
import { bulkInviteRows, bulkInvites, invites } from "../../database/schema.ts";
import { inviteExpiry } from "../invites/invites.schemas.ts";
import { hasEmail, inviteWhere, isActive, isExpiredAndListed, lapseInvites } from "../invites/invites.sql.ts";
import { accountOf, membershipEndedAfter } from "../organization_users/organization_users.sql.ts";
import type { BulkInviteChunk } from "./bulk_invites.schemas.ts";
import { COULD_NOT_BE_MADE, isPendingRow, pendingRows } from "./bulk_invites.sql.ts";

/**
 * Makes the invites of a chunk's rows, in one transaction: each row that is pending ends as created or failed. Rows
 * that have ended stay as they are, so a message that is delivered twice does nothing the second time.
 */
export async function processChunk({ db, now, settings }: Context, chunk: BulkInviteChunk): Promise<void> {
  const work = { ...chunk, now, expires_at: inviteExpiry(settings, now) };
  await runBatch(db, [
    touchBulkInvite(work),
    failRepeatedRows(work),
    failRowsOfMembers(work),
    failRowsOfFormerMembers(work),
    failRowsOfInvitees(work),
    lapseExpiredInvitesOfRows(work),
    insertInvites(work),
    completeRows(work),
    completeBulkInvite(work),
  ]);
}

/** What becomes of a chunk that could not be processed, however often it was tried. */
export async function failChunk({ db, now }: Context, chunk: BulkInviteChunk): Promise<void> {
  const work = { ...chunk, now };
  await runBatch(db, [touchBulkInvite(work), failRemainingRows(work), completeBulkInvite(work)]);
}

/** The chunk to work off, and when. */
interface ChunkWork extends BulkInviteChunk {
  now: number;
}

/** Goes ahead of what ends the rows: where no row is pending, nothing changes. */
const touchBulkInvite = namedQuery((work: Placeholders<ChunkWork>) =>
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

const failRepeatedRows = failRowsWhere("The email is in an earlier row of the request", () =>
  exists(
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
  ),
);

const failRowsOfMembers = failRowsWhere("The email has an account in the organization", () =>
  exists(accountOf(bulkInviteRows.organization_id, bulkInviteRows.email)),
);

const requestedAt = builder
  .select({ created_at: bulkInvites.created_at })
  .from(bulkInvites)
  .where(eq(bulkInvites.id, bulkInviteRows.bulk_invite_id));

/** A request from before the end of a membership does not let the person in again. */
const failRowsOfFormerMembers = failRowsWhere("The membership of this email ended after the request", () =>
  exists(membershipEndedAfter(bulkInviteRows.organization_id, bulkInviteRows.email, requestedAt)),
);

const failRowsOfInvitees = failRowsWhere("The email has a pending invite", ({ now }) =>
  exists(inviteWhere(and(isInviteOfRow, isActive(now)))),
);

const failRemainingRows = failRowsWhere(COULD_NOT_BE_MADE, () => undefined);

function failRowsWhere(error: string, condition: (work: Placeholders<ChunkWork>) => SQL | undefined) {
  return namedQuery((work: Placeholders<ChunkWork>) =>
    builder
      .update(bulkInviteRows)
      .set({ status: "failed", error })
      .where(and(pendingRows(work), condition(work))),
  );
}

const isInviteOfRow = hasEmail(bulkInviteRows.organization_id, bulkInviteRows.email);

/** An email has at most one active invite. An expired one lapses before the new one comes. */
const lapseExpiredInvitesOfRows = namedQuery((work: Placeholders<ChunkWork>) =>
  lapseInvites(
    inArray(
      invites.id,
      builder
        .select({ id: invites.id })
        .from(bulkInviteRows)
        .innerJoin(invites, isInviteOfRow)
        .where(and(pendingRows(work), isExpiredAndListed(work.now))),
    ),
  ),
);

const insertInvites = namedQuery((work: Placeholders<ChunkWork & { expires_at: number }>) =>
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
    sql`from ${bulkInviteRows} where ${pendingRows(work)} order by ${bulkInviteRows.row}`,
  ),
);

const completeRows = namedQuery((work: Placeholders<ChunkWork>) =>
  builder.update(bulkInviteRows).set({ status: "created" }).where(pendingRows(work)),
);

/** Comes after what ends the rows: the cron no longer looks at a bulk invite all rows of which have ended. */
const completeBulkInvite = namedQuery((work: Placeholders<ChunkWork>) =>
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
