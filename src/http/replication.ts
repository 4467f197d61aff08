import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import type { Context } from "../context.ts";

/*
 * Set-up data is read from the primary, so that callers see their own changes; and recordings, so that a withdrawn
 * consent counts at once. The other results of calls are read from the nearest replica. Every response carries a bookmark. A GET that sends it back reads from any replica, and waits until
 * that replica has reached the bookmark.
 */

const HEADER = "X-D1-Bookmark";

const BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/;

declare module "hono" {
  interface ContextVariableMap {
    session: D1DatabaseSession;
  }
}

/** The session of a request. It starts on the primary, or from the bookmark of a GET; a malformed bookmark is ignored. */
export function openRequestSession(c: HonoContext, binding: D1Database): D1DatabaseSession {
  const isRead = c.req.method === "GET";
  return binding.withSession((isRead && bookmarkOf(c)) || "first-primary");
}

/** Adds the bookmark of the session to the response. */
export function addBookmark(c: HonoContext) {
  const bookmark = c.var.session.getBookmark();
  if (bookmark) c.header(HEADER, bookmark);
}

/** For routes that read the results of calls: these hardly change, and the primary is far away from many callers. */
export const nearestReplica = createMiddleware<{ Bindings: Env; Variables: { context: Context } }>(
  async (c, next) => {
    if (!bookmarkOf(c)) {
      const session = c.env.DB.withSession("first-unconstrained");
      c.set("session", session);
      c.set("context", { ...c.var.context, db: session });
    }
    await next();
  },
);

function bookmarkOf(c: HonoContext): string | undefined {
  const sent = c.req.header(HEADER);
  return sent && BOOKMARK.test(sent) ? sent : undefined;
}
