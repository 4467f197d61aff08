import type { Context as HonoContext, Next } from "hono";
import { createMiddleware } from "hono/factory";
import { type Context, openContext, placeOf } from "../context.ts";
import {
  type Bound,
  type Database,
  type Home,
  isReplica,
  primaryOf,
  type Replica,
  runsOn,
} from "../database/database.ts";
import { envOfShard, shardOf } from "../database/shards.ts";
import type { ApiEnv } from "./hono.ts";

/*
 * Set-up data is read from the primary, so that callers see their own changes; and so are recordings and consents, so
 * that a withdrawn consent counts at once, and all that the access log records (see acting_user.ts). Call metrics are
 * read from the nearest replica, and so are events: a replica shows them up to some id, so that a client that goes on
 * from there skips none. Every response carries a bookmark. A GET that sends it back reads from any replica, and waits
 * until that replica has reached the bookmark. What a replica leaves in doubt, the primary is asked (see
 * database/database.ts).
 *
 * A bookmark is one database's: that of a shard ends with its number, and another shard ignores it.
 */

const HEADER = "X-D1-Bookmark";

export const BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}(\.[1-9]\d{0,4})?$/;

const PRIMARY = "first-primary";

declare module "hono" {
  interface ContextVariableMap {
    /** The one that was asked last, of the shard whose bookmark is sent. */
    session: D1DatabaseSession;
    /** With several databases, once the request has said of which organization it is. */
    home: Home | undefined;
  }
}

/** The context of a request whose shard is not known yet: it begins in the directory, and goes on in another shard. */
export function openRequest(c: HonoContext<ApiEnv<Context>>): Context {
  function enter(shard: number, home?: { newShard: Bound; onMoved?: (shard: number) => void }): Context {
    const now = c.get("context")?.now ?? Date.now();
    c.env = envOfShard(c.env, shard);
    if (home) setHome(c, home.newShard, home.onMoved);
    const context = {
      ...c.get("context"),
      ...openContext(c.env, now, { db: openDatabase(c), request_id: c.get("requestId") }),
    };
    if (context.shards) context.shards.enter = enter;
    c.set("context", context);
    return context;
  }
  return enter(0);
}

/**
 * The database of a request: the primary, or a replica from the bookmark of a GET. A malformed bookmark is ignored, and so is
 * that of another shard.
 */
export function openDatabase(c: HonoContext): Database {
  const bookmark = c.req.method === "GET" ? bookmarkOf(c) : undefined;
  return bookmark ? openReplica(c, bookmark) : openSession(c, PRIMARY);
}

/** Adds the bookmark of the session. */
export async function answerWithBookmark(c: HonoContext, next: Next) {
  await next();
  const bookmark = c.var.session.getBookmark();
  if (bookmark) c.header(HEADER, bookmark + shardSuffix(c));
}

/** From here on, each batch of the request also asks whether its organization has moved: then the request goes on there. */
export function setHome(c: HonoContext, newShard: Bound, onMoved: (shard: number) => void = () => {}) {
  const follow = (shard: number) => {
    onMoved(shard);
    c.env = envOfShard(c.env, shard);
    // What is queued from now on is about rows that are there.
    Object.assign(c.get("context"), placeOf(c.env));
    return openSession(c, PRIMARY);
  };
  c.set("home", { newShard, follow });
}

const shardSuffix = ({ env }: HonoContext) => (shardOf(env) === 0 ? "" : `.${shardOf(env)}`);

/** For call metrics and events: these hardly change, and the primary is far away from many callers. */
export const nearestReplica = createMiddleware<ApiEnv<Context>>(async (c, next) => {
  const { context } = c.var;
  if (!isReplica(context.db)) context.db = openReplica(c, "first-unconstrained");
  await next();
});

/** For routes that read recordings or consents: a consent that was withdrawn counts at once, whatever bookmark is sent. */
export const primaryOnly = createMiddleware<ApiEnv<Context>>(async (c, next) => {
  const { context } = c.var;
  context.db = primaryOf(context.db);
  await next();
});

function openReplica(c: HonoContext, start: string): Replica {
  // When a replica fails, the request may have gone on in another shard.
  const { DB } = c.env;
  const session = openSession(c, start);
  return Object.assign(
    runsOn(session, () => session.home),
    { primary: () => openSession(c, PRIMARY, DB) },
  );
}

function openSession(c: HonoContext, start: string, database: D1Database = c.env.DB): Database {
  const session = database.withSession(start);
  if (database === c.env.DB) c.set("session", session);
  return runsOn(session, () => c.get("home"));
}

function bookmarkOf(c: HonoContext): string | undefined {
  const sent = c.req.header(HEADER);
  if (!sent || !BOOKMARK.test(sent)) return undefined;
  const [bookmark = "", shard] = sent.split(".");
  return Number(shard ?? 0) === shardOf(c.env) ? bookmark : undefined;
}
