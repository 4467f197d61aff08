import { lt } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "./database.ts";
import { builder, type Placeholders, preparedQuery } from "./queries.ts";
import { isInTurn, ownerIdOf, type Turn, workOff } from "./turns.ts";

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
