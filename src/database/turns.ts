import { and, asc, eq, gt, inArray, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { CRON_PORTION, CRON_TURNS, OWNERS_ASKED } from "../tuning.ts";
import type { Database } from "./database.ts";
import { livesHere } from "./moves.ts";
import { type BoundQuery, builder, jsonValues, type Placeholders, runAll, runBatch } from "./queries.ts";

/*
 * The chores of the cron go round the organizations: each has its turn in every run, in which a portion of its rows is
 * worked off. So an organization with a million old rows does not delay the erasure of another's.
 */

/** What a statement of a chore may take, as values of its query. */
export interface Turn {
  /** Rows of each owner. */
  share: number;
  /** Rows of all owners together. */
  portion: number;
  /** The owners whose turn it is, as a JSON array; null for all. */
  owners: string | null;
  /** Which order the owners have, from 1 to TURN_ORDERS - 1: another one in each run. */
  order: number;
}

/** A prime, so that each order is another permutation. */
const TURN_ORDERS = 1_000_003;

/** Every table of ours has it, whatever its primary key is. */
export const rowid = sql`rowid`;

/**
 * Selects each value of a column once, all of them positive. It goes from one to the next in an index that begins with the column, and reads an
 * entry for each.
 *
 * @param indexed what the WHERE of that index says, in its words
 * @param next the next column of that index: without it, SQLite may take another index, whose entries it has to filter
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
 * Selects the rowids of what is worked off in a turn. It reads about as many rows as it selects, and one for each owner.
 * The order of the owners is another one each time: where there are more of them than a portion serves, nobody is always
 * the last.
 *
 * @param owners selects the ids of those who may have something to work off
 * @param rowsOf selects the rowids of an owner's rows, the first of them first; the limit is added here
 */
export const rowsInTurn = (
  table: SQLiteTable,
  owners: SQL,
  rowsOf: (owner_id: SQL) => SQLWrapper,
  turn: Placeholders<Turn>,
): SQL => sql`(
  select own.rowid
  from (
    select id from (${owners}) where ${turn.owners} is null or id in ${jsonValues(turn.owners)}
    order by ${placeInTurn(sql`id`, turn.order)} limit max(${turn.portion}, ${sql.raw(String(OWNERS_ASKED))})
  ) as turn
  cross join ${table} as own on own.rowid in (select * from (${rowsOf(sql`turn.id`)}) limit ${turn.share})
  where ${livesHere(sql`own.organization_id`)}
  limit ${turn.portion}
)`;

/** The rows of an organization that a chore works off. */
interface DueRows {
  /** Those come first whose time is earliest. There is an index on (organization_id, time). */
  time: SQLiteColumn;
  /** It may depend on whose they are. */
  where: SQL | undefined | ((organization_id: SQL) => SQL | undefined);
  /** What the WHERE of that index says, in its words. */
  indexed?: SQL | undefined;
  /** Selects the ids of the organizations that may have such rows. Left out: each that is in that index. */
  owners?: SQL;
}

/** True for the rows of a table that are due and have their turn. */
export function isInTurn(
  table: SQLiteTable & { organization_id: SQLiteColumn },
  { time, where, indexed, owners = eachOf(table.organization_id, indexed, time) }: DueRows,
  turn: Placeholders<Turn>,
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

/** Where an owner stands in the order of a run. */
export const placeInTurn = (owner_id: SQL, order: Placeholders<Turn>["order"]): SQL =>
  sql`${owner_id} % ${sql.raw(String(TURN_ORDERS))} * ${order} % ${sql.raw(String(TURN_ORDERS))}`;

/** An order of its own for each run. */
export const randomOrder = (): number => 1 + Math.floor(Math.random() * (TURN_ORDERS - 1));

/** The owner of a row, as a column of a selection: chores return it of each row that they work off. */
export const ownerIdOf = (column: SQLiteColumn) => sql<number>`${column}`.as("owner_id");

type OwnedRows = { owner_id: number }[];

/**
 * Works off a portion. First, all owners have their turn, with small shares. Then those who have more share what is left
 * of the portion.
 *
 * @param take works off what is to be taken, and returns the owner of each row
 * @returns what `take` returned
 */
export async function takeTurns<Rows extends OwnedRows>(
  portion: number,
  take: (turn: Turn) => Promise<Rows>,
): Promise<Rows[number][]> {
  const first = firstTurn(portion);
  const taken = await take(first);
  const second = secondTurn(first, taken);
  return second ? [...taken, ...(await take(second))] : taken;
}

/**
 * Works off a portion by a statement.
 *
 * @param write makes the statement, which returns the owner of each row
 * @returns how many rows it worked off
 */
export async function workOff(
  db: Database,
  write: (turn: Turn) => BoundQuery<OwnedRows[number]>,
): Promise<number> {
  return (await takeTurns(CRON_PORTION, (turn) => runAll(db, write(turn)))).length;
}

/** Whose turn it is, and when. */
export type ChoreTurn = Turn & { now: number };

/**
 * Works off a portion, and writes its entries of the access log in the same transaction.
 *
 * @param record makes the statement of the entries
 * @param write makes the statement of the work, which returns the owner of each row
 * @returns how many rows it worked off
 */
export async function workOffRecorded(
  { db, now }: { db: Database; now: number },
  portion: number,
  record: (chore: ChoreTurn) => BoundQuery<unknown>,
  write: (chore: ChoreTurn) => BoundQuery<OwnedRows[number]>,
): Promise<number> {
  const rows = await takeTurns(portion, async (turn) => {
    const chore = { ...turn, now };
    const [, written] = await runBatch(db, [record(chore), write(chore)]);
    return written;
  });
  return rows.length;
}

/**
 * Finds a portion, as `takeTurns` works it off, for a chore that does not change at once what it finds.
 *
 * @param find finds the rows of a turn, and finds them again
 */
export async function findInTurns<Rows extends ({ id: number } & OwnedRows[number])[]>(
  portion: number,
  find: (turn: Turn) => Promise<Rows>,
): Promise<Rows[number][]> {
  const first = firstTurn(portion);
  const found = await find(first);
  const second = secondTurn(first, found);
  if (!second) return found;
  const more = await find({ ...second, share: first.share + second.share, portion });
  return [...new Map([...found, ...more].map((row) => [row.id, row])).values()];
}

const firstTurn = (portion: number): Turn => ({
  share: Math.ceil(portion / CRON_TURNS),
  portion,
  owners: null,
  order: randomOrder(),
});

/** The turn of those who took all of their share, or null if nobody did, or nothing is left of the portion. */
function secondTurn({ share, portion, order }: Turn, taken: OwnedRows): Turn | null {
  const unfinished = [...Map.groupBy(taken, ({ owner_id }) => owner_id)]
    .filter(([, rows]) => rows.length >= share)
    .map(([owner_id]) => owner_id);
  const rest = portion - taken.length;
  const restOfEach = Math.floor(rest / unfinished.length);
  if (unfinished.length === 0 || restOfEach === 0) return null;
  return { share: restOfEach, portion: rest, owners: JSON.stringify(unfinished), order };
}
