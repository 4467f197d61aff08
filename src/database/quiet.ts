import { eq } from "drizzle-orm";
import { databaseSettings } from "./database.table.ts";
import { columnAs } from "./expressions.ts";
import { builder, preparedQuery } from "./queries.ts";

/*
 * A restored database is quiet until its operator resumes it: background work could send webhooks and mails again, or delete
 * data that is under a legal hold that began after the restored time.
 */

/** Returns a row only while the database is quiet. */
export const quietSince = preparedQuery((_: object) =>
  builder
    .select({ since: columnAs(databaseSettings.value, "since") })
    .from(databaseSettings)
    .where(eq(databaseSettings.name, "quiet")),
);
