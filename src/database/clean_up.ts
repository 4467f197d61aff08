import { asc, inArray, lt, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { CRON_PORTION } from "../tuning.ts";
import type { Database } from "./database.ts";
import { builder, type Placeholders, preparedQuery, runAll } from "./queries.ts";
import { isInTurn, ownerIdOf, rowid, type Turn, workOff } from "./turns.ts";

/** A chore of the cron that deletes rows, a portion in one run. It returns how many it deleted. */
export type CleanUp = (context: { db: Database; now: number }) => Promise<number>;

/**
 * The chore that deletes the oldest rows of each organization.
 *
 * @param time the column that says how old a row is; it needs an index that begins with the organization
 * @param keptFor how long a row stays after that time, in milliseconds
 */
export function cleanUp(
  table: SQLiteTable & { organization_id: SQLiteColumn },
  time: SQLiteColumn,
  keptFor: number,
): CleanUp {
  const deleteOld = preparedQuery((old: Placeholders<Turn & { before: number }>) =>
    builder
      .delete(table)
      .where(isInTurn(table, { time, where: lt(time, old.before) }, old))
      .returning({ owner_id: ownerIdOf(table.organization_id) }),
  );
  return ({ db, now }) => workOff(db, (turn) => deleteOld({ ...turn, before: now - keptFor }));
}

/**
 * The chore that deletes the oldest rows of a table that is of no organization.
 *
 * @param time the column that says how old a row is; it needs an index
 * @param keptFor how long a row stays after that time, in milliseconds
 */
export function cleanUpOfNobody(table: SQLiteTable, time: SQLiteColumn, keptFor: number): CleanUp {
  const deleteOld = preparedQuery(({ before }: Placeholders<{ before: number }>) =>
    builder
      .delete(table)
      .where(
        inArray(
          rowid,
          builder
            .select({ rowid: rowid.as("rowid") })
            .from(table)
            .where(lt(time, before))
            .orderBy(asc(time))
            .limit(CRON_PORTION),
        ),
      )
      .returning({ deleted: sql<number>`1`.as("deleted") }),
  );
  return async ({ db, now }) => (await runAll(db, deleteOld({ before: now - keptFor }))).length;
}
