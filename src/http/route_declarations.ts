import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import { matchedRoutes } from "hono/route";

/*
 * A route declares who may call it with middleware that does nothing itself. The middleware of its API runs earlier and finds the
 * declaration here, so that it can refuse a request before examining anything else. The reference finds it in `app.routes`.
 */

/** Middleware that only carries a declaration. */
export const declaring = <Declared extends object>(declared: Declared) =>
  Object.assign(
    createMiddleware((_, next) => next()),
    declared,
  );

export function declarationOf<Value>(c: HonoContext, name: string): Value | undefined {
  const found = matchedRoutes(c).find(({ handler }) => name in handler);
  return (found?.handler as { [name: string]: Value } | undefined)?.[name];
}
