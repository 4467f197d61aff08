import { createMiddleware } from "hono/factory";
import type { ClientContext } from "../context.ts";
import type { ApiEnv } from "./hono.ts";

/** For routes whose requests do not count towards the daily quotas: see usage.quotas.ts. */
export const outsideQuotas = Object.assign(
  createMiddleware<ApiEnv<ClientContext>>(async (c, next) => {
    const { context } = c.var;
    context.requester.is_counted = false;
    context.writes = 0;
    await next();
  }),
  { isOutsideQuotas: true },
);
