import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import type { Context } from "../context.ts";
import { openSession, type Session } from "../database/database.ts";

/*
 * Reads of set-up go to the primary, so that a caller sees what it has just changed. Reads of what ended calls left
 * behind go to the nearest replica. Each answer tells a bookmark; a request that carries it reads from any replica
 * that has come that far.
 */

const HEADER = "X-D1-Bookmark";

const BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/;

declare module "hono" {
  interface ContextVariableMap {
    session: Session;
  }
}

/** The session of a request: on the primary, but for a read that brings a bookmark. One that is none is ignored. */
export function openRequestSession(c: HonoContext, binding: D1Database): Session {
  const isRead = c.req.method === "GET";
  return openSession(binding, (isRead && bookmarkOf(c)) || "first-primary");
}

/** Tells the caller how far its session has seen. */
export function tellBookmark(c: HonoContext) {
  const bookmark = c.var.session.bookmark();
  if (bookmark) c.header(HEADER, bookmark);
}

/** For routes that read what ended calls left behind: it hardly changes, and is read from far away. */
export const nearestReplica = createMiddleware<{ Bindings: Env; Variables: { context: Context } }>(
  async (c, next) => {
    if (!bookmarkOf(c)) {
      const session = openSession(c.env.DB, "first-unconstrained");
      c.set("session", session);
      c.set("context", { ...c.var.context, db: session.db });
    }
    await next();
  },
);

function bookmarkOf(c: HonoContext): string | undefined {
  const sent = c.req.header(HEADER);
  return sent && BOOKMARK.test(sent) ? sent : undefined;
}
