import { lt, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "./database.ts";
import { builder, type Placeholders, preparedQuery } from "./queries.ts";
import { isInTurn, type Turn, workOff } from "./turns.ts";

interface Options {
  /** Must repeat the WHERE of that index, if it is partial. */
  indexed?: SQL;
  /** A time as the column has it. */
  written?: (time: number) => number | string;
}

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
  { indexed, written = (time) => time }: Options = {},
) {
  const deleteOld = preparedQuery((old: Placeholders<Turn & { before: number | string }>) =>
    builder
      .delete(table)
      .where(isInTurn(table, { time, where: lt(time, old.before), indexed }, old))
      .returning({ organization_id: table.organization_id }),
  );
  return ({ db, now }: { db: Database; now: number }): Promise<number> =>
    workOff(db, (turn) => deleteOld({ ...turn, before: written(now - keptFor) }));
}
