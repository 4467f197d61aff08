import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import type { ExternalEnv } from "./external_api.ts";
import { countFor } from "./rate_limits.ts";

/** Requests with a limit of their own, and the counter and the setting of each. */
const COSTLY = {
  bulk_invites: ["BULK_INVITE_LIMIT", "BULK_INVITE_LIMIT_PER_MINUTE"],
  redeliveries: ["REDELIVERY_LIMIT", "REDELIVERY_LIMIT_PER_MINUTE"],
  access_logs: ["ACCESS_LOG_LIMIT", "ACCESS_LOG_LIMIT_PER_MINUTE"],
} as const;

export type CostlyRequest = keyof typeof COSTLY;

/** For routes that cost much: the API clients of an organization can ask for them only so often, whatever comes of it. */
export const costly = (limited: CostlyRequest) =>
  Object.assign(
    createMiddleware<ExternalEnv>(async (c, next) => {
      await countCostly(c, limited);
      await next();
    }),
    { limited },
  );

/** For routes that cost much only where a request asks for much. */
export async function countCostly(c: HonoContext<ExternalEnv>, limited: CostlyRequest): Promise<void> {
  const [counter, setting] = COSTLY[limited];
  const { caller, settings } = c.var.context;
  await countFor(c, limited, c.env[counter], caller.organization_id, settings[setting]);
}
