import type { Env as HonoEnv, MiddlewareHandler } from "hono";
import type { HonoBase } from "hono/hono-base";
import { routePath } from "hono/route";
import { type ApiError, methodNotAllowed, noSuchPath } from "./errors.ts";

const METHODS = ["GET", "POST", "PUT", "DELETE"];

/** 405 if the path has other methods, else 404. */
export function unrouted<E extends HonoEnv>({ router }: HonoBase<E>, path: string): ApiError {
  const allowed = METHODS.filter((method) =>
    router.match(method, path)[0].some(([[, route]]) => route.method === method),
  );
  return allowed.length > 0 ? methodNotAllowed(allowed) : noSuchPath();
}

/** After authentication, and before anything in the path is looked up. */
export const requireRoute =
  <E extends HonoEnv>(app: HonoBase<E>): MiddlewareHandler =>
  async (c, next) => {
    if (!isRouted(c)) throw unrouted(app, c.req.path);
    await next();
  };

/** True if a route takes the request, rather than only middleware. */
export const isRouted = (c: Parameters<MiddlewareHandler>[0]): boolean => !routePath(c, -1).endsWith("*");
