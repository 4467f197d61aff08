import type { Context as HonoContext, Next } from "hono";
import { createMiddleware } from "hono/factory";
import { matchedRoutes } from "hono/route";
import type { Context } from "../context.ts";
import { ApiError, handleError } from "./errors.ts";

/*
 * Set-up data is read from the primary, so that callers see their own changes; and so are recordings, so that a
 * withdrawn consent counts at once. The other results of calls are read from the nearest replica, and so are events: a
 * replica shows them up to some id, so that a client that goes on from there skips none. Every response carries a bookmark. A GET that sends it back reads from any replica, and waits until that replica has reached the bookmark.
 * Where a replica finds nothing, the primary is asked: others may have written what the replica does not have yet, and
 * what the bookmark knows nothing of. And so it is where a query fails that began with a bookmark: after a restore, the
 * database does not know those of before.
 */

const HEADER = "X-D1-Bookmark";

export const BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/;

const PRIMARY = "first-primary";

declare module "hono" {
  interface ContextVariableMap {
    session: D1DatabaseSession;
    /** Whether a replica may answer the queries of the session. */
    readsFromReplica: boolean;
  }
}

type ReplicatedContext = HonoContext<{ Bindings: Env; Variables: { context: Context } }>;

/** The session of a request. It starts on the primary, or from the bookmark of a GET; a malformed bookmark is ignored. */
export function openRequestSession(c: HonoContext, binding: D1Database): D1DatabaseSession {
  const bookmark = c.req.method === "GET" ? bookmarkOf(c) : undefined;
  c.set("readsFromReplica", bookmark !== undefined);
  return binding.withSession(bookmark ?? PRIMARY);
}

/** Runs the route, a second time on the primary if it has to, and adds the bookmark of the session. */
export async function answerWithBookmark(c: HonoContext, next: Next) {
  await next();
  const { error } = c;
  const isInDoubt = error instanceof ApiError ? error.status === 404 : error && bookmarkOf(c);
  if (c.var.readsFromReplica && isInDoubt) await answerFromPrimary(c, next);
  const bookmark = c.var.session.getBookmark();
  if (bookmark) c.header(HEADER, bookmark);
}

/**
 * Repeats the handler that answered 404 or failed. It belongs to a GET, so it may run twice. A validator refuses again
 * before any query runs.
 */
async function answerFromPrimary(c: ReplicatedContext, next: Next) {
  const refused = matchedRoutes(c)[c.req.routeIndex];
  moveTo(c, PRIMARY);
  // An error thrown here would skip the rest of the middleware, which adds the bookmark.
  const answer = async () => refused?.handler(c, next);
  const response = await answer().catch((error) => handleError(error, c));
  c.res = undefined;
  c.res = response as Response;
}

/** For routes that read the results of calls, and events: these hardly change, and the primary is far away from many callers. */
export const nearestReplica = createMiddleware<{ Bindings: Env; Variables: { context: Context } }>(
  async (c, next) => {
    if (!c.var.readsFromReplica) {
      moveTo(c, "first-unconstrained");
      c.set("readsFromReplica", true);
    }
    await next();
  },
);

/** For routes that read recordings: a consent that was withdrawn counts at once, whatever bookmark is sent. */
export const primaryOnly = createMiddleware<{ Bindings: Env; Variables: { context: Context } }>(
  async (c, next) => {
    if (c.var.readsFromReplica) {
      moveTo(c, PRIMARY);
      c.set("readsFromReplica", false);
    }
    await next();
  },
);

function moveTo(c: ReplicatedContext, start: D1SessionConstraint) {
  const session = c.env.DB.withSession(start);
  c.set("session", session);
  c.var.context.db = session;
}

function bookmarkOf(c: HonoContext): string | undefined {
  const sent = c.req.header(HEADER);
  return sent && BOOKMARK.test(sent) ? sent : undefined;
}
