import { and, asc, eq, gt, inArray, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { CRON_PORTION, CRON_SHARES, CRON_TIME_LIMIT } from "../tuning.ts";
import type { Database } from "./database.ts";
import { livesHere } from "./moves.ts";
import { type BoundQuery, builder, runAll, runBatch, type Values } from "./queries.ts";

/*
 * A chore of the cron goes round the organizations: each gets a share in every pass. So an organization with a million old rows
 * does not delay the erasure of other organizations' data.
 */

/** The limits of one statement of a chore, as values of its query. */
export interface Turn {
  /** The statement only processes owners with higher ids: the others have had their share of the pass. */
  after: number;
  /** Rows of each owner. */
  share: number;
  /** Rows of all owners together. */
  portion: number;
}

export type ChoreTurn = Turn & { now: number };

/** The limits of a statement whose rows each cause work outside the database, of which an invocation can do only so much. */
export interface LimitedTurn {
  /** Rows of each owner. */
  share: number;
  /** Rows of all owners together. */
  limit: number;
}

/** A LIMIT that limits nothing. */
const ALL_ROWS = -1;

/** All our tables have a rowid, whatever their primary keys are. */
export const rowid = sql`rowid`;

/**
 * Selects each value of a column once. The values must be positive. It goes from one value to the next in an index that begins with
 * the column, and reads one entry for each.
 *
 * @param indexed must repeat the WHERE of that index, if it is partial
 * @param next the next column of that index; without it, SQLite may choose another index, whose entries it has to filter
 */
export function eachOf(column: SQLiteColumn, indexed?: SQL, next?: SQLiteColumn): SQL {
  const following = builder
    .select({ id: sql`${column}`.as("id") })
    .from(column.table)
    .where(and(indexed, gt(column, sql`owner.id`)))
    .orderBy(asc(column), ...(next ? [asc(next)] : []))
    .limit(1);
  return sql`with recursive owner (id) as (select 0 union all select (${following}) from owner where id is not null)
    select id from owner where id > 0`;
}

/**
 * Selects the rowids of the rows to process in a turn. It reads about as many rows as it selects, plus one for each owner.
 *
 * Without the LIMIT, SQLite could drop the ORDER BY of the owners. The `+` of `+id` makes SQLite use the owners' own index.
 *
 * @param owners selects the ids of the owners that may have rows to process
 * @param rowsOf selects the rowids of an owner's rows, in the order of processing; the limit is added here
 */
export const rowsInTurn = (
  table: SQLiteTable,
  owners: SQL,
  rowsOf: (owner_id: SQL) => SQLWrapper,
  turn: Values<Turn>,
): SQL => sql`(
  select own.rowid
  from (
    select id from (${owners}) where +id > ${turn.after} order by +id limit ${ALL_ROWS}
  ) as turn
  cross join ${table} as own on own.rowid in (select * from (${rowsOf(sql`turn.id`)}) limit ${turn.share})
  where ${livesHere(sql`own.organization_id`)}
  limit ${turn.portion}
)`;

/** The rows of an organization that a chore processes. */
interface DueRows {
  /** Rows with the earliest times come first. There must be an index on (organization_id, time). */
  time: SQLiteColumn;
  /** May depend on the organization. */
  where: SQL | undefined | ((organization_id: SQL) => SQL | undefined);
  /** Must repeat the WHERE of that index, if it is partial. */
  indexed?: SQL | undefined;
  /** Selects the ids of the organizations that may have such rows. Default: all that are in that index. */
  owners?: SQL;
}

/** True for the rows of a table that are due and belong to this turn. */
export function isInTurn(
  table: SQLiteTable & { organization_id: SQLiteColumn },
  { time, where, indexed, owners = eachOf(table.organization_id, indexed, time) }: DueRows,
  turn: Values<Turn>,
): SQL {
  const dueOf = (owner_id: SQL) =>
    builder
      .select({ rowid: rowid.as("rowid") })
      .from(table)
      .where(
        and(
          eq(table.organization_id, owner_id),
          indexed,
          typeof where === "function" ? where(owner_id) : where,
        ),
      )
      .orderBy(asc(time));
  return inArray(sql`${table}.rowid`, rowsInTurn(table, owners, dueOf, turn));
}

/**
 * True for some of the due rows of a table: from each owner's share, and in all up to the limit. They are chosen at random, so that
 * no owner is always the last.
 */
export function isInLimitedTurn(
  table: SQLiteTable & { organization_id: SQLiteColumn },
  due: DueRows,
  { share, limit }: Values<LimitedTurn>,
): SQL {
  const isDue = isInTurn(table, due, { after: 0, share, portion: ALL_ROWS });
  return sql`${table}.rowid in (select rowid from ${table} where ${isDue} order by random() limit ${limit})`;
}

/** The owner of a row, for a selection: chores return it for each row that they process. */
export const ownerIdOf = (column: SQLiteColumn) => sql<number>`${column}`.as("owner_id");

type OwnedRows = { owner_id: number }[];

/** The owners that used their whole share, so that they may have more rows. */
export const ownersWithMore = (rows: OwnedRows, share: number): Set<number> =>
  new Set(
    [...Map.groupBy(rows, ({ owner_id }) => owner_id)]
      .filter(([, own]) => own.length >= share)
      .map(([owner_id]) => owner_id),
  );

/**
 * Runs a chore in passes. In each pass, every owner gets a share. Another pass begins if an owner used its whole share, fewer rows
 * than a portion are processed, and time is left.
 *
 * @param take processes a turn, and returns the owner of each row
 * @returns the number of rows
 */
export async function takeShares(portion: number, take: (turn: Turn) => Promise<OwnedRows>): Promise<number> {
  const share = Math.ceil(portion / CRON_SHARES);
  const endAt = Date.now() + CRON_TIME_LIMIT;
  let taken = 0;
  let after = 0;
  let isSomeLeft = false;
  for (;;) {
    const rows = await take({ after, share, portion });
    taken += rows.length;
    const unfinished = ownersWithMore(rows, share);
    isSomeLeft ||= unfinished.size > 0;
    if (rows.length >= portion) {
      const last = Math.max(...rows.map(({ owner_id }) => owner_id));
      // The portion may have ended within the share of the last owner.
      after = unfinished.has(last) ? last : last - 1;
    } else if (isSomeLeft && taken < portion && Date.now() < endAt) {
      after = 0;
      isSomeLeft = false;
    } else return taken;
  }
}

/** Runs a chore that consists of one statement, which returns the owner of each row. */
export const workOff = (
  db: Database,
  write: (turn: Turn) => BoundQuery<OwnedRows[number]>,
): Promise<number> => takeShares(CRON_PORTION, (turn) => runAll(db, write(turn)));

/**
 * Runs a chore together with the statement that writes its access log entries, in one transaction.
 *
 * @param record builds the statement that writes the entries
 * @param write builds the chore's statement, which returns the owner of each row
 * @returns the number of rows
 */
export const workOffRecorded = (
  { db, now }: { db: Database; now: number },
  portion: number,
  record: (chore: ChoreTurn) => BoundQuery<unknown>,
  write: (chore: ChoreTurn) => BoundQuery<OwnedRows[number]>,
): Promise<number> =>
  takeShares(portion, async (turn) => {
    const chore = { ...turn, now };
    const [, written] = await runBatch(db, [record(chore), write(chore)]);
    return written;
  });
