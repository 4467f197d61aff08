import { and, asc, eq, inArray, lt, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { CRON_PORTION } from "../tuning.ts";
import type { Database } from "./database.ts";
import { builder, type Placeholders, preparedQuery, runAll } from "./queries.ts";
import { eachOf, ownerIdOf, rowid, rowsInTurn, type Turn, takeTurns } from "./turns.ts";

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
  const { organization_id } = table;
  const deleteOld = preparedQuery((old: Placeholders<Turn & { before: number }>) => {
    const oldRowsOf = (owner_id: ReturnType<typeof sql>) =>
      builder
        .select({ rowid: rowid.as("rowid") })
        .from(table)
        .where(and(eq(organization_id, owner_id), lt(time, old.before)))
        .orderBy(asc(time));
    return builder
      .delete(table)
      .where(inArray(rowid, rowsInTurn(table, eachOf(organization_id), oldRowsOf, old)))
      .returning({ owner_id: ownerIdOf(organization_id) });
  });
  return async ({ db, now }) => {
    const before = now - keptFor;
    return (await takeTurns(CRON_PORTION, (turn) => runAll(db, deleteOld({ ...turn, before })))).length;
  };
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
