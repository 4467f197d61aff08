import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import type { ExternalEnv } from "./hono.ts";
import { countFor } from "./rate_limits.ts";

const COSTLY = {
  bulk_invites: ["BULK_INVITE_LIMIT", "BULK_INVITE_LIMIT_PER_MINUTE"],
  redeliveries: ["REDELIVERY_LIMIT", "REDELIVERY_LIMIT_PER_MINUTE"],
  access_logs: ["ACCESS_LOG_LIMIT", "ACCESS_LOG_LIMIT_PER_MINUTE"],
} as const;

export type CostlyRequest = keyof typeof COSTLY;

/** Counts the requests of all API clients of an organization together, whether they succeed or not. */
export const costly = (limited: CostlyRequest) =>
  Object.assign(
    createMiddleware<ExternalEnv>(async (c, next) => {
      await countCostly(c, limited);
      await next();
    }),
    { limited },
  );

export async function countCostly(c: HonoContext<ExternalEnv>, limited: CostlyRequest): Promise<void> {
  const [counter, setting] = COSTLY[limited];
  const { caller, settings } = c.var.context;
  await countFor(c, limited, c.env[counter], caller.organization_id, settings[setting]);
}
