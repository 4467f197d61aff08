import { eq } from "drizzle-orm";
import { databaseSettings } from "./database.table.ts";
import { preparedQuery } from "./queries.ts";
import { selectColumn } from "./selects.ts";

/** Selects a row of `databaseSettings` as `value`. */
export const settingOf = (name: "quiet" | "shard" | "backup") =>
  preparedQuery((_: object) => selectColumn(databaseSettings.value, eq(databaseSettings.name, name)));

/**
 * A restored database is quiet until its operator resumes it: background work could send webhooks and mails again, or delete data
 * that is under a legal hold that began after the restored time. Returns a row only while the database is quiet.
 */
export const quietSince = settingOf("quiet");

/** The first database stores none. */
export const ownShard = settingOf("shard");
