import { createMiddleware } from "hono/factory";
import type { ClientContext } from "../context.ts";
import { withBeside } from "../database/database.ts";
import { WRITE_SIZE } from "../limits.ts";
import { countWrites } from "../resources/usage/usage.sql.ts";
import { dateOf } from "./dates.ts";
import type { ApiEnv } from "./hono.ts";

/*
 * The quotas of a day bound what the API clients of an organization write, and the entries that they cause in its access log.
 * Triggers refuse what goes beyond (triggers/usage.sql). Some requests do not count and are never refused: signing in, legal holds,
 * taking rights away, deleting, and reading the access log. Their routes say `outsideQuotas`; a DELETE need not.
 */

/** Counts what the request stores, in the transaction that stores it. */
export function countStored(context: ClientContext, method: string): void {
  // A deletion takes away something that has counted.
  if (method === "DELETE") return;
  context.requester.is_counted = true;
  if (["GET", "HEAD"].includes(method)) return;
  context.writes = 1;
  const { organization_id, api_client_id } = context.caller;
  context.db = withBeside(context.db, () => {
    const { now, writes: count } = context;
    return count > 0 ? [countWrites({ organization_id, api_client_id, date: dateOf(now), count })] : [];
  });
}

/** @param size of the body in bytes */
export function countBody(context: ClientContext, size: number): void {
  if (context.writes > 0) context.writes = Math.max(1, Math.ceil(size / WRITE_SIZE));
}

export const outsideQuotas = Object.assign(
  createMiddleware<ApiEnv<ClientContext>>(async (c, next) => {
    const { context } = c.var;
    context.requester.is_counted = false;
    context.writes = 0;
    await next();
  }),
  { isOutsideQuotas: true },
);
