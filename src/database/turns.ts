import { and, asc, eq, gt, inArray, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { CRON_PORTION, CRON_SHARES, CRON_STATEMENTS, CRON_TIME_LIMIT } from "../tuning.ts";
import type { Database } from "./database.ts";
import { livesHere } from "./moves.ts";
import { type BoundQuery, builder, runAll, runBatch, type Values } from "./queries.ts";

/* Every organization gets a share in each statement of a chore, so that a million old rows do not delay the others' erasure. */

export interface Turn {
  share: number;
  portion: number;
  /** Changes the order of the owners, so that none is always last. */
  shuffle: number;
}

export type ChoreTurn = Turn & { now: number };

/** A prime, below which `Turn.shuffle` is: so every organization has its own place in each order, and products stay exact. */
const ORDERS = 65_521;

export const newTurn = (share: number, portion: number): Turn => ({
  share,
  portion,
  shuffle: 1 + Math.floor(Math.random() * (ORDERS - 1)),
});

const orders = sql.raw(String(ORDERS));

const ALL_ROWS = -1;

/** All our tables have a rowid, whatever their primary keys are. */
export const rowid = sql`rowid`;

/**
 * Goes from one value to the next in an index that begins with the column, and reads one entry for each. Values must be
 * positive.
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
 * Reads about as many rows as it selects, plus one for each owner. Without the LIMIT, SQLite could drop the ORDER BY of the
 * owners. Their order is not random, because a guard, or a second statement of the transaction, must find the same rows.
 *
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
    select id from (${owners}) order by id % ${orders} * ${turn.shuffle} % ${orders} limit ${ALL_ROWS}
  ) as turn
  cross join ${table} as own on own.rowid in (select * from (${rowsOf(sql`turn.id`)}) limit ${turn.share})
  where ${livesHere(sql`own.organization_id`)}
  limit ${turn.portion}
)`;

interface DueRows {
  /** Rows with the earliest times come first. There must be an index on (organization_id, time). */
  time: SQLiteColumn;
  where: SQL | undefined | ((organization_id: SQL) => SQL | undefined);
  /** Must repeat the WHERE of that index, if it is partial. */
  indexed?: SQL | undefined;
  /** Default: all organizations in that index. */
  owners?: SQL;
}

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
 * Another statement follows if an owner may have more, and either the portion was used up, so that owners may have had nothing,
 * or the chore has processed less than a portion.
 *
 * @returns the number of rows that `take` returned
 */
export async function takeShares(portion: number, take: (turn: Turn) => Promise<unknown[]>): Promise<number> {
  const share = Math.ceil(portion / CRON_SHARES);
  const endAt = Date.now() + CRON_TIME_LIMIT;
  let taken = 0;
  for (let statement = 0; statement < CRON_STATEMENTS && Date.now() < endAt; statement++) {
    const { length } = await take(newTurn(share, portion));
    taken += length;
    if (length < share || (length < portion && taken >= portion)) break;
  }
  return taken;
}

export const workOff = (db: Database, write: (turn: Turn) => BoundQuery<unknown>): Promise<number> =>
  takeShares(CRON_PORTION, (turn) => runAll(db, write(turn)));

/** The chore's statement, and the one that writes its access log entries, in one transaction. */
export const workOffRecorded = (
  { db, now }: { db: Database; now: number },
  portion: number,
  record: (chore: ChoreTurn) => BoundQuery<unknown>,
  write: (chore: ChoreTurn) => BoundQuery<unknown>,
): Promise<number> =>
  takeShares(portion, async (turn) => {
    const chore = { ...turn, now };
    const [, written] = await runBatch(db, [record(chore), write(chore)]);
    return written;
  });
