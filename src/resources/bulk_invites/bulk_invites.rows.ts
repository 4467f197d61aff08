import { and, asc, between, eq, isNull, lte, min, notExists, type SQL, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { coalesce, greatest, hasValues, iif, least, scalar } from "../../database/expressions.ts";
import { insertSelect, jsonField, jsonFields, jsonRows } from "../../database/insert.ts";
import { livesHere } from "../../database/moves.ts";
import {
  builder,
  type Placeholders,
  preparedQuery,
  type Row,
  runAll,
  runBatch,
} from "../../database/queries.ts";
import { bulkInviteRows, bulkInvites, invites, organizationDays } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { totalOf } from "../../database/totals.ts";
import { isInTurn, randomOrder, type Turn } from "../../database/turns.ts";
import { dateOf } from "../../http/dates.ts";
import { isPassing } from "../../http/errors.ts";
import { log, logFault } from "../../http/log.ts";
import { MAX_ORGANIZATION_MAILS, MAX_UNUSED_INVITES } from "../../limits.ts";
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
import { ALL_CLIENTS } from "../usage/usage.sql.ts";
import { decideRowEnds } from "./bulk_invites.merge.ts";
import { ROW_FAULTS } from "./bulk_invites.refusals.ts";
import { failRowsWhere, isPendingRow, mailsToAddress, pendingRowColumns } from "./bulk_invites.sql.ts";

/*
 * D1 knows which rows are pending. A portion of them is one transaction, so each row ends once, however many consumers
 * take it, and whenever one of them dies.
 */

/**
 * Ends the pending rows of all organizations: each gets a portion in every round, so that one with many rows does not
 * delay another with few.
 *
 * @param wake sends a message for what is left, which comes after so many seconds
 * @throws an error of D1 that passes: the message is retried, and the rows that have ended stay as they are
 */
export async function endDueRows(context: Context, wake: (delay: number) => Promise<void>): Promise<void> {
  for (let portions = 0; portions < BULK_INVITE_PORTIONS; ) {
    const due = await findDueBulkInvites({ ...context, now: Date.now() }, BULK_INVITE_ORGANIZATIONS);
    let ended = 0;
    for (const bulkInvite of due)
      ended += await endPortion({ ...context, now: Date.now() }, bulkInvite, wake);
    // Another round would find the same.
    if (ended === 0) return;
    portions += due.length;
  }
  await wake(0);
}

/** The bulk invites that are due: one of each organization, in its turn. */
export const findDueBulkInvites = ({ db, now }: Context, portion: number): Promise<DueBulkInvite[]> =>
  runAll(
    db,
    dueBulkInvites({
      share: 1,
      portion,
      owners: null,
      order: randomOrder(),
      due_before: now + DUE_TOLERANCE,
    }),
  );

/**
 * Ends the first pending rows of a bulk invite.
 *
 * A fault of the service, such as a constraint that refuses one of them, fails them all. They are tried again later, in
 * growing pauses, because most such faults pass or get fixed. A bulk invite with too many faults has its rows ended one
 * by one: so only the row at fault fails, and no row is tried for ever.
 *
 * @returns how many rows have ended
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

/** Pending rows of a bulk invite, by their first and last position. */
interface Portion {
  bulk_invite_id: number;
  first_row: number;
  last_row: number;
}

/** Makes the invites of these rows, in one transaction: each row ends as created or failed. Returns how many. */
async function endRowsOf(context: Context, portion: Portion): Promise<number> {
  const { db, now, settings, mailer } = context;
  let ended = 0;
  await decideAndWrite(
    db,
    [pendingRowsOf({ ...portion, day: dayOf(now) }), quotasLeft({ ...portion, date: dateOf(now) })],
    (rows, [left]): Decision<unknown> => {
      const [first] = rows;
      ended = rows.length;
      if (!first || !left) return { unchanged: null };
      const { ends, invites, mailed } = decideRowEnds(rows, left, { settings, mailer }, now);
      const { bulk_invite_id } = portion;
      return {
        writes: [
          ...countMails(context, first.organization_id, mailed),
          insertInvites({ invites: JSON.stringify(invites) }),
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
  const due = { time, where: lte(time, turn.due_before), indexed: isNull(bulkInvites.completed_at) };
  return builder
    .select(dueBulkInviteColumns)
    .from(bulkInvites)
    .where(isInTurn(bulkInvites, due, turn));
});

/** Counts a fault once, also if two consumers met it. */
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
    .where(and(inPortion(portion), isPendingRow, livesHere(bulkInvites.organization_id)))
    .orderBy(asc(bulkInviteRows.row)),
);

/**
 * How many invites the organization can still have, and mails it can still send on the day. More than a portion needs do not
 * matter, so other invites rarely do.
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

/** D1 binds numbers as REAL, which the guard of a decision would see as others. */
const leftOf = (most: number, used: SQL) =>
  sql<number>`cast(${least(greatest(sql`${most} - ${used}`, 0), BULK_INVITE_PORTION)} as integer)`;

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

/** Comes after `endRows`: a bulk invite without pending rows is never due again. */
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
