import { Hono } from "hono";
import { isUpToDate } from "../database/migrated.ts";
import { readSettings, requireOwnSecrets } from "../settings.ts";
import { ApiError } from "./errors.ts";
import { logFault } from "./log.ts";
import type { RefusalReason } from "./log_names.ts";

const notReady = (reason: RefusalReason<"health">) =>
  new ApiError(503, "The service is not ready", { reason });

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
  const upToDate = await isUpToDate(c.env.DB).catch(() => {
    throw notReady("database_unreachable");
  });
  if (!upToDate) throw notReady("migrations_missing");
  return c.json({ status: "ok" });
});
