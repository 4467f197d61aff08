import { and, asc, between, eq, isNull, lte, min, notExists, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { coalesce, greatest, hasValues, iif, least, scalar } from "../../database/expressions.ts";
import { insertRows, jsonField, jsonRows } from "../../database/insert.ts";
import {
  builder,
  type Placeholders,
  preparedQuery,
  type Row,
  runAll,
  runBatch,
} from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { totalOf } from "../../database/totals.ts";
import { isInTurn, newTurn, type Turn } from "../../database/turns.ts";
import { dateOf } from "../../http/dates.ts";
import { isPassing } from "../../http/errors.ts";
import { log, logFault } from "../../http/log.ts";
import { MAX_ORGANIZATION_MAILS, MAX_UNUSED_INVITES } from "../../limits.ts";
import { isServed } from "../../organization/organizations/organizations.sql.ts";
import { ALL_CLIENTS } from "../../organization/usage/usage.sql.ts";
import { organizationDays } from "../../organization/usage/usage.table.ts";
import { growingPause } from "../../pauses.ts";
import {
  BULK_INVITE_FAULTS,
  BULK_INVITE_ORGANIZATIONS,
  BULK_INVITE_PORTION,
  BULK_INVITE_PORTIONS,
  DUE_TOLERANCE,
  QUEUE_RETRIES,
} from "../../tuning.ts";
import { countMails, dayOf } from "../invite_mails/invite_mails.limits.ts";
import { invites } from "../invites/invites.table.ts";
import { decideRowEnds } from "./bulk_invites.merge.ts";
import { ROW_FAULTS } from "./bulk_invites.refusals.ts";
import { failRowsWhere, isPendingRow, mailsToAddress, pendingRowColumns } from "./bulk_invites.sql.ts";
import { bulkInviteRows, bulkInvites } from "./bulk_invites.table.ts";

/*
 * D1 knows which rows are pending. Each portion is one transaction, so each row ends exactly once, however many
 * consumers process it, and whenever one of them dies.
 */

/**
 * Ends the pending rows of all organizations. Each organization gets one portion in every round, so that one with many
 * rows does not delay another with few.
 *
 * @param wake sends a message for the remaining rows, delayed by this many seconds
 * @throws a transient error of D1: the message is retried, and rows that have ended stay as they are
 */
export async function endDueRows(context: Context, wake: (delay: number) => Promise<void>): Promise<void> {
  for (let portions = 0; portions < BULK_INVITE_PORTIONS; ) {
    const due = await findDueBulkInvites({ ...context, now: Date.now() }, BULK_INVITE_ORGANIZATIONS);
    let ended = 0;
    for (const bulkInvite of due)
      ended += await endPortion({ ...context, now: Date.now() }, bulkInvite, wake);
    // Another round would find the same bulk invites.
    if (ended === 0) return;
    portions += due.length;
  }
  await wake(0);
}

/** Returns at most one due bulk invite of each organization. */
export const findDueBulkInvites = ({ db, now }: Context, limit: number): Promise<DueBulkInvite[]> =>
  runAll(db, dueBulkInvites({ ...newTurn(1, limit), due_before: now + DUE_TOLERANCE }));

/**
 * Ends the first pending rows of a bulk invite.
 *
 * A fault of the service, such as a violated constraint, fails the whole portion. It is retried with growing pauses,
 * because most such faults pass or get fixed. After too many faults, the rows of the bulk invite are ended one by one,
 * so that only the row at fault fails, and no row is retried forever.
 *
 * @returns the number of rows that ended
 */
async function endPortion(
  context: Context,
  { id, faults, first_row }: DueBulkInvite,
  wake: (delay: number) => Promise<void>,
): Promise<number> {
  const { db, now } = context;
  const isOneByOne = faults >= BULK_INVITE_FAULTS;
  const last_row = isOneByOne ? first_row : first_row + BULK_INVITE_PORTION - 1;
  const rows = { bulk_invite_id: id, first_row, last_row };
  try {
    return await endRowsOf(context, rows);
  } catch (error) {
    if (isPassing(error)) throw error;
    logFault({ bulk_invite_id: id }, error);
  }
  if (isOneByOne) {
    await runBatch(db, failRowsOf({ ...rows, now, error: ROW_FAULTS.notMade }));
    log("bulk_invite_row_failed", { bulk_invite_id: id, row: first_row });
    return 1;
  }
  const delay = Math.round(growingPause(faults + 1, QUEUE_RETRIES));
  await runAll(db, postpone({ id, faults, next_attempt_at: now + delay * 1000 }));
  await wake(delay);
  return 0;
}

/** The pending rows of a bulk invite between two positions, both included. */
interface Portion {
  bulk_invite_id: number;
  first_row: number;
  last_row: number;
}

/** Ends these rows as created or failed, in one transaction that also creates their invites. Returns the number of rows. */
async function endRowsOf(context: Context, portion: Portion): Promise<number> {
  const { db, now, settings, mailer } = context;
  let ended = 0;
  await decideAndWrite(
    db,
    {
      pending: pendingRowsOf({ ...portion, day: dayOf(now) }),
      quota: quotasLeft({ ...portion, date: dateOf(now) }),
    },
    ({ pending, quota: [left] }): Decision<unknown> => {
      const [first] = pending;
      ended = pending.length;
      if (!first || !left) return { unchanged: null };
      const { ends, invites, mailed } = decideRowEnds(pending, left, { settings, mailer }, now);
      const { bulk_invite_id } = portion;
      return {
        writes: [
          ...countMails(context, first.organization_id, mailed),
          insertInvites(invites),
          endRows({ bulk_invite_id, ends: JSON.stringify(ends) }),
          finishPortion({ bulk_invite_id, now }),
        ],
      };
    },
  );
  return ended;
}

const firstPendingRow = builder
  .select({ row: min(bulkInviteRows.row) })
  .from(bulkInviteRows)
  .where(and(eq(bulkInviteRows.bulk_invite_id, bulkInvites.id), isPendingRow));

const dueBulkInviteColumns = {
  id: bulkInvites.id,
  faults: bulkInvites.faults,
  first_row: sql<number>`${firstPendingRow}`.as("first_row"),
};

type DueBulkInvite = Row<typeof dueBulkInviteColumns>;

const dueBulkInvites = preparedQuery((turn: Placeholders<Turn & { due_before: number }>) => {
  const { next_attempt_at: time } = bulkInvites;
  const due = {
    time,
    where: (organization_id: SQL) => and(lte(time, turn.due_before), isServed(organization_id)),
    indexed: isNull(bulkInvites.completed_at),
  };
  return builder
    .select(dueBulkInviteColumns)
    .from(bulkInvites)
    .where(isInTurn(bulkInvites, due, turn));
});

/** Counts a fault only once if two consumers meet it. */
const postpone = preparedQuery(
  ({ id, faults, next_attempt_at }: Placeholders<{ id: number; faults: number; next_attempt_at: number }>) =>
    builder
      .update(bulkInvites)
      .set({ faults: sql`${bulkInvites.faults} + 1`, next_attempt_at })
      .where(hasValues(bulkInvites, { id, faults })),
);

const inPortion = ({ bulk_invite_id, first_row, last_row }: Placeholders<Portion>) =>
  and(eq(bulkInviteRows.bulk_invite_id, bulk_invite_id), between(bulkInviteRows.row, first_row, last_row));

const failRowsOf = failRowsWhere((portion: Placeholders<Portion>) => ({
  ofBulkInvites: eq(bulkInvites.id, portion.bulk_invite_id),
  ofRows: inPortion(portion),
}));

const pendingRowsOf = preparedQuery((portion: Placeholders<Portion & { day: number }>) =>
  builder
    .select({ ...pendingRowColumns, mails_to_address: mailsToAddress(portion.day) })
    .from(bulkInviteRows)
    .innerJoin(bulkInvites, eq(bulkInvites.id, bulkInviteRows.bulk_invite_id))
    .where(and(inPortion(portion), isPendingRow))
    .orderBy(asc(bulkInviteRows.row)),
);

/**
 * How many more invites the organization can have, and how many more mails it can send on the day. Both are capped at
 * the size of a portion, so that other invites rarely conflict with this decision.
 */
const quotasLeft = preparedQuery(({ bulk_invite_id, date }: Placeholders<Portion & { date: string }>) => {
  const { organization_id } = bulkInvites;
  const mails = selectColumn(
    organizationDays.mails,
    hasValues(organizationDays, { organization_id, date, api_client_id: ALL_CLIENTS }),
  );
  return builder
    .select({
      places: leftOf(MAX_UNUSED_INVITES, totalOf("invites", organization_id)).as("places"),
      mails: leftOf(MAX_ORGANIZATION_MAILS, coalesce(scalar(mails), 0)).as("mails"),
    })
    .from(bulkInvites)
    .where(eq(bulkInvites.id, bulk_invite_id));
});

/** Cast, because D1 binds numbers as REAL, and the guard of a decision would take 3.0 and 3 for different values. */
const leftOf = (most: number, used: SQL) =>
  sql<number>`cast(${least(greatest(sql`${most} - ${used}`, 0), BULK_INVITE_PORTION)} as integer)`;

const insertInvites = insertRows(invites);

/** @param ends a JSON array of `RowEnd` */
const endRows = preparedQuery(
  ({ bulk_invite_id, ends }: Placeholders<{ bulk_invite_id: number; ends: string }>) =>
    builder
      .update(bulkInviteRows)
      .set({ status: iif(isNull(jsonField("error")), "created", "failed"), error: jsonField("error") })
      .from(jsonRows(ends))
      .where(hasValues(bulkInviteRows, { bulk_invite_id, row: jsonField("row") })),
);

/** Must run after `endRows`: a bulk invite without pending rows is never due again. */
const finishPortion = preparedQuery(
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
