import type { Context as HonoContext, Next } from "hono";
import { type Context, openContext } from "../context.ts";
import type { Database, Replica } from "../database/database.ts";
import { envOfShard, shardOf } from "../database/shards.ts";
import type { ApiEnv } from "./hono.ts";
import { declarationOf, declaring } from "./route_declarations.ts";

/*
 * Reads go to the primary, so that callers see their own changes, and a withdrawn consent takes effect at once. Every response
 * carries a bookmark. A GET that sends it back reads from any replica that has reached it; if the answer is in doubt, the
 * primary is asked (see database/database.ts). A bookmark of a shard other than the first ends with the shard's number. Other
 * shards ignore it.
 */

const HEADER = "X-D1-Bookmark";

export const BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}(\.[1-9]\d{0,4})?$/;

const PRIMARY = "first-primary";

declare module "hono" {
  interface ContextVariableMap {
    session: D1DatabaseSession;
  }
}

/** The context of a request whose shard is not known yet: it begins in the directory, and `enter` switches the shard. */
export function openRequest(c: HonoContext<ApiEnv<Context>>): Context {
  function enter(shard: number): Context {
    const now = c.get("context")?.now ?? Date.now();
    c.env = envOfShard(c.env, shard);
    const context = { ...c.get("context"), ...openContext(c.env, now, openDatabase(c), c.get("requestId")) };
    if (context.shards) context.shards.enter = enter;
    c.set("context", context);
    return context;
  }
  return enter(0);
}

/**
 * Where a GET reads from. By default, the primary, or with a bookmark, a replica.
 * - `primary`: whatever bookmark the caller sends. For recorded reads, and where a withdrawn consent counts at once.
 * - `nearest`: a replica even without a bookmark. For call metrics and events, which hardly change.
 */
export const readsFrom = (reads: "primary" | "nearest") => declaring({ reads });

/** Ignores a malformed bookmark and one of another shard. */
export function openDatabase(c: HonoContext): Database {
  const reads = declarationOf<"primary" | "nearest">(c, "reads");
  if (c.req.method !== "GET" || reads === "primary") return openSession(c, PRIMARY);
  const start = bookmarkOf(c) ?? (reads === "nearest" ? "first-unconstrained" : undefined);
  return start ? openReplica(c, start) : openSession(c, PRIMARY);
}

export async function answerWithBookmark(c: HonoContext, next: Next) {
  await next();
  const bookmark = c.var.session.getBookmark();
  if (bookmark) c.header(HEADER, bookmark + shardSuffix(c));
}

const shardSuffix = ({ env }: HonoContext) => (shardOf(env) === 0 ? "" : `.${shardOf(env)}`);

function openReplica(c: HonoContext, start: string): Replica {
  // Kept for when the replica fails: by then, the request may have switched to another shard.
  const { DB } = c.env;
  const session = openSession(c, start);
  return {
    prepare: (query) => session.prepare(query),
    batch: (statements) => session.batch(statements),
    primary: () => openSession(c, PRIMARY, DB),
  };
}

function openSession(c: HonoContext, start: string, database: D1Database = c.env.DB): Database {
  const session = database.withSession(start);
  if (database === c.env.DB) c.set("session", session);
  return session;
}

function bookmarkOf(c: HonoContext): string | undefined {
  const sent = c.req.header(HEADER);
  if (!sent || !BOOKMARK.test(sent)) return undefined;
  const [bookmark = "", shard] = sent.split(".");
  return Number(shard ?? 0) === shardOf(c.env) ? bookmark : undefined;
}
