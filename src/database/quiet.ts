import { eq, notExists, type SQL } from "drizzle-orm";
import { columnAs } from "./expressions.ts";
import { builder, preparedQuery } from "./queries.ts";
import { databaseSettings } from "./schema.ts";

/*
 * A restored database is quiet until its operator says otherwise. What goes out into the world would come from an earlier
 * time, and perhaps from a rehearsal beside the real service: webhooks that were sent long ago, deletions of files that a
 * lost report protects. So each statement that takes such work from the database says `isNotQuiet`, and takes none.
 */

const quietSetting = () =>
  builder
    .select({ since: columnAs(databaseSettings.value, "since") })
    .from(databaseSettings)
    .where(eq(databaseSettings.name, "quiet"));

/** True where the database may act on the world. */
export const isNotQuiet = (): SQL => notExists(quietSetting());

/** One row while the database is quiet: for a request that is to be told so. */
export const quietSince = preparedQuery((_: object) => quietSetting());
