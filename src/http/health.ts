import { Hono } from "hono";
import { isUpToDate } from "../database/migrated.ts";
import { HEALTH_KNOWN_FOR } from "../limits.ts";
import { readSettings, requireOwnSecrets } from "../settings.ts";
import { ApiError } from "./errors.ts";
import { logFault } from "./log.ts";
import type { RefusalReason } from "./log_names.ts";

const notReady = (reason: RefusalReason<"health">) =>
  new ApiError(503, "The service is not ready", { reason });

type DatabaseFault = "migrations_missing" | "database_unreachable" | undefined;

/** What this isolate found last, by database. */
const found = new WeakMap<D1Database, { at: number; fault: DatabaseFault }>();

async function databaseFault(db: D1Database, now: number): Promise<DatabaseFault> {
  const known = found.get(db);
  if (known && Math.abs(now - known.at) < HEALTH_KNOWN_FOR) return known.fault;
  const fault = await isUpToDate(db).then(
    (upToDate) => (upToDate ? undefined : "migrations_missing"),
    () => "database_unreachable" as const,
  );
  found.set(db, { at: now, fault });
  return fault;
}

/**
 * For monitoring: can the service do its work? Its settings are valid, and it reaches a database that has all
 * migrations. It takes no credentials and shows no details.
 */
export const health = new Hono<{ Bindings: Env }>().get("/", async (c) => {
  try {
    requireOwnSecrets(readSettings(c.env), c.req.url);
  } catch (error) {
    logFault({ request_id: c.get("requestId") }, error);
    throw notReady("settings_at_fault");
  }
  const fault = await databaseFault(c.env.DB, Date.now());
  if (fault) throw notReady(fault);
  // Somebody who looks after a deployment should notice.
  return c.json({ status: "ok", ...(readSettings(c.env).ALLOW_HTTP === "true" ? { allow_http: true } : {}) });
});
