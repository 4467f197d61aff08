import { Hono } from "hono";
import { databaseState } from "../database/migrated.ts";
import { envOfShard, shardOf, shardsOf } from "../database/shards.ts";
import { HEALTH_KNOWN_FOR, HEALTH_TIMEOUT } from "../limits.ts";
import { openMailer } from "../mail/mail.ts";
import { readSettings, requireOwnSecrets } from "../settings.ts";
import { ApiError } from "./errors.ts";
import { logFault } from "./log.ts";
import type { RefusalReason } from "./log_names.ts";

const notReady = (reason: RefusalReason<"health">, where = "") =>
  new ApiError(503, `The service is not ready${where}`, { reason });

type Fault = Exclude<RefusalReason<"health">, "settings_at_fault">;

/** How a database is: a fault, or no fault. */
type Found = Fault | "ok" | "quiet";

/** What this isolate found last, by database. */
const known = new WeakMap<D1Database, { at: number; found: Found }>();

async function stateOf(env: Env, now: number): Promise<Found> {
  const { DB } = env;
  const last = known.get(DB);
  if (last && Math.abs(now - last.at) < HEALTH_KNOWN_FOR) return last.found;
  const found = await Promise.race([askState(env), unreachableAfter(HEALTH_TIMEOUT)]).catch(
    () => "database_unreachable" as const,
  );
  known.set(DB, { at: now, found });
  return found;
}

async function askState(env: Env): Promise<Found> {
  const { isUpToDate, hasRange, isQuiet } = await databaseState(env.DB);
  if (!isUpToDate) return "migrations_missing";
  if (!hasRange && shardOf(env) > 0) return "range_missing";
  return isQuiet ? "quiet" : "ok";
}

const unreachableAfter = (milliseconds: number) =>
  new Promise<never>((_, reject) => setTimeout(() => reject(new Error("timeout")), milliseconds));

/** For an operator who forgot it. The service answers requests, so the status stays 200. */
const QUIET =
  "The database was restored: no webhook or mail is sent, no file is deleted, no day of the access log is sealed and LiveKit is not asked until `npm run restore -- --resume`";

const isFault = (state: Found | undefined): state is Fault =>
  state !== undefined && state !== "ok" && state !== "quiet";

/**
 * For monitoring: can the service do its work? Its settings are valid, and it reaches its databases, which have all
 * migrations. It takes no credentials and shows no details.
 */
export const health = new Hono<{ Bindings: Env }>().get("/", async (c) => {
  try {
    requireOwnSecrets(readSettings(c.env), c.req.url);
  } catch (error) {
    logFault({ request_id: c.get("requestId") }, error);
    throw notReady("settings_at_fault");
  }
  const settings = readSettings(c.env);
  const shards = shardsOf(c.env);
  const now = Date.now();
  const states = await Promise.all(shards.map((shard) => stateOf(envOfShard(c.env, shard), now)));
  const fault = states.find(isFault);
  const faulty = shards.filter((_, n) => isFault(states[n])).map((shard) => `shard ${shard}`);
  if (fault) throw notReady(fault, shards.length > 1 ? `: ${faulty.join(", ")}` : "");
  const isQuiet = states.includes("quiet");
  return c.json({
    status: isQuiet ? "quiet" : "ok",
    mail: openMailer(c.env, settings) ? "on" : "off",
    ...(isQuiet && { message: QUIET }),
    // Somebody who looks after a deployment should notice.
    ...(settings.ALLOW_HTTP === "true" && { allow_http: true }),
    ...(!settings.AUDIT_SIGNING_KEY && { access_log_not_sealed: true }),
  });
});
