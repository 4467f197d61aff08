import { Hono } from "hono";
import { databaseState } from "../database/migrated.ts";
import { HEALTH_KNOWN_FOR } from "../limits.ts";
import { openMailer } from "../mail/mail.ts";
import { readSettings, requireOwnSecrets } from "../settings.ts";
import { ApiError } from "./errors.ts";
import { logFault } from "./log.ts";
import type { RefusalReason } from "./log_names.ts";

const notReady = (reason: RefusalReason<"health">) =>
  new ApiError(503, "The service is not ready", { reason });

/** How a database is: a fault, or no fault. */
type Found = "migrations_missing" | "database_unreachable" | "ok" | "quiet";

/** What this isolate found last, by database. */
const known = new WeakMap<D1Database, { at: number; found: Found }>();

async function stateOf(db: D1Database, now: number): Promise<Found> {
  const last = known.get(db);
  if (last && Math.abs(now - last.at) < HEALTH_KNOWN_FOR) return last.found;
  const found = await databaseState(db).then(
    ({ isUpToDate, isQuiet }) => (isUpToDate ? (isQuiet ? "quiet" : "ok") : "migrations_missing"),
    () => "database_unreachable" as const,
  );
  known.set(db, { at: now, found });
  return found;
}

/** For an operator who forgot it. The service answers requests, so the status stays 200. */
const QUIET =
  "The database was restored: no webhook or mail is sent, no file is deleted, no day of the access log is sealed and LiveKit is not asked until `npm run restore -- --resume`";

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
  const found = await stateOf(c.env.DB, Date.now());
  if (found !== "ok" && found !== "quiet") throw notReady(found);
  const settings = readSettings(c.env);
  return c.json({
    status: found,
    mail: openMailer(c.env, settings) ? "on" : "off",
    ...(found === "quiet" && { message: QUIET }),
    // Somebody who looks after a deployment should notice.
    ...(settings.ALLOW_HTTP === "true" && { allow_http: true }),
    ...(!settings.AUDIT_SIGNING_KEY && { access_log_not_sealed: true }),
  });
});
