import { and, asc, inArray, lt, sql } from "drizzle-orm";
import type { CleanUp } from "../../database/clean_up.ts";
import { livesHere } from "../../database/moves.ts";
import { builder, type Placeholders, preparedQuery, runAll } from "../../database/queries.ts";
import { organizationDays } from "../../database/schema.ts";
import { rowid } from "../../database/turns.ts";
import { dateOf } from "../../http/dates.ts";
import { CRON_PORTION } from "../../tuning.ts";
import { DAY } from "../../units.ts";
import { isOfOneClient } from "./usage.sql.ts";

const { organization_id, date } = organizationDays;

/** There are a few rows for each organization, so they need no turns. */
const deleteOldDays = preparedQuery(({ before }: Placeholders<{ before: string }>) =>
  builder
    .delete(organizationDays)
    .where(
      inArray(
        rowid,
        builder
          .select({ rowid: rowid.as("rowid") })
          .from(organizationDays)
          .where(and(isOfOneClient, lt(date, before), livesHere(sql`${organization_id}`)))
          .orderBy(asc(date))
          .limit(CRON_PORTION),
      ),
    )
    .returning({ deleted: sql<number>`1`.as("deleted") }),
);

/** Deletes what single clients stored before yesterday: their quota is that of a day. */
export const deleteOldClientDays: CleanUp = async ({ db, now }) =>
  (await runAll(db, deleteOldDays({ before: dateOf(now - DAY) }))).length;
