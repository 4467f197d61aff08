import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import { matchedRoutes } from "hono/route";

/* Middleware that does nothing carries a route's declaration, which its API reads earlier, and the reference in `app.routes`. */

export const declaring = <Declared extends object>(declared: Declared) =>
  Object.assign(
    createMiddleware((_, next) => next()),
    declared,
  );

export function declarationOf<Value>(c: HonoContext, name: string): Value | undefined {
  const found = matchedRoutes(c).find(({ handler }) => name in handler);
  return (found?.handler as { [name: string]: Value } | undefined)?.[name];
}
