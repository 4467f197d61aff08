import { sql } from "drizzle-orm";
import type { Context } from "../context.ts";
import { log } from "../http/log.ts";
import { BACKUP_LATE_AFTER } from "../tuning.ts";
import { HOUR } from "../units.ts";
import { databaseSettings } from "./database.table.ts";
import { builder, type Placeholders, preparedQuery, runBatch } from "./queries.ts";
import { settingOf } from "./quiet.ts";

const insertRun = preparedQuery(({ now }: Placeholders<{ now: number }>) =>
  builder
    .insert(databaseSettings)
    .values({ name: "cron", value: now })
    .onConflictDoUpdate({ target: databaseSettings.name, set: { value: sql`excluded.value` } })
    .returning({ name: databaseSettings.name }),
);

const lastBackup = settingOf("backup");

/** Records a run of the cron, for `npm run status`, and reports a backup that is late. */
export async function recordRun({ db, now, shards, shard }: Context): Promise<void> {
  const [, [backup]] = await runBatch(db, [insertRun({ now }), lastBackup({})]);
  if (backup && now - backup.value < BACKUP_LATE_AFTER) return;
  log("backup_late", {
    ...(shards && { shard }),
    ...(backup && { hours_since_backup: Math.floor((now - backup.value) / HOUR) }),
  });
}
