import { asc, inArray, lt, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { CRON_PORTION } from "../limits.ts";
import { builder, namedQuery, type Placeholders } from "./queries.ts";

/** Every table of ours has it, whatever its primary key is. */
const rowid = sql`rowid`;

/**
 * Deletes the oldest rows, a portion of those from before a time, and returns one row for each.
 *
 * @param time the column that says how old a row is; it needs an index
 */
export const namedCleanUp = (table: SQLiteTable, time: SQLiteColumn) =>
  namedQuery(({ before }: Placeholders<{ before: number }>) =>
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
