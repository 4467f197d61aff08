import { type Context, openContext } from "../context.ts";
import { runAll } from "../database/queries.ts";
import { quietSince } from "../database/quiet.ts";
import { log } from "../http/log.ts";

/**
 * The context of the cron and of queue consumers; null while the database is quiet, when no background work may run.
 *
 * A single check is enough: a backup makes its database quiet in the transaction that creates its rows, and before Time
 * Travel the operator stops the cron and the queues and waits until they have ended (src/docs/backup.md).
 */
export async function openBackground(env: Env, now: number): Promise<Context | null> {
  const context = openContext(env, now);
  const [quiet] = await runAll(context.db, quietSince({}));
  if (!quiet) return context;
  log("database_quiet", context.shards ? { shard: context.shard } : {});
  return null;
}
