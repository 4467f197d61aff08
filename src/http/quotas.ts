import { createMiddleware } from "hono/factory";
import type { ClientContext } from "../context.ts";
import { withBeside } from "../database/database.ts";
import { besideStored } from "../resources/usage/usage.sql.ts";
import type { ApiEnv } from "./hono.ts";

/*
 * The quotas of a day bound what the API clients of an organization store. They never refuse signing in, a legal hold, taking
 * rights away, deleting, or reading the access log: such a route says `outsideQuotas`, and a DELETE need not.
 */

/** Counts what the request stores, and refuses it beyond a quota, in the transaction that stores it. */
export function countStored(context: ClientContext): void {
  context.db = withBeside(context.db, (statements) =>
    context.isOutsideQuotas ? [] : besideStored(context, statements),
  );
}

/** For routes that the quotas never refuse. Their requests count as no write; their entries of the access log count. */
export const outsideQuotas = Object.assign(
  createMiddleware<ApiEnv<ClientContext>>(async (c, next) => {
    c.var.context.isOutsideQuotas = true;
    await next();
  }),
  { isOutsideQuotas: true },
);
