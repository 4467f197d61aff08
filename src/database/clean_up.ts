import { lt } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "./database.ts";
import { builder, type Placeholders, preparedQuery } from "./queries.ts";
import { isInTurn, type Turn, workOff } from "./turns.ts";

export type CleanUp = (context: { db: Database; now: number }) => Promise<number>;

/**
 * Deletes the old rows of each organization.
 *
 * @param time from which a row's age counts; it needs an index that begins with the organization
 * @param keptFor in milliseconds
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
      .returning({ organization_id: table.organization_id }),
  );
  return ({ db, now }) => workOff(db, (turn) => deleteOld({ ...turn, before: now - keptFor }));
}
