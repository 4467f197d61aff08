/**
 * The floor: the least that a few operations can cost, to compare the service with. It has no router, no schemas and no
 * query builder, and one prepared statement where one is enough. It relies on valid requests: it validates nothing, and
 * a refusal is a bare status. Its security is the same: it checks the caller's digest and access, and enforces rules in
 * the statement that writes. The README says when to edit it.
 */
import { floorReads } from "./floor_reads.ts";
import { floorWrites } from "./floor_writes.ts";

// biome-ignore lint/suspicious/noExplicitAny: the floor trusts its statements
export type Row = Record<string, any>;

export interface FloorCaller {
  api_client_id: number;
  organization_id: number;
  organization_user_id: number;
  user_id: number;
  roles: string[];
}

export interface FloorRequest {
  request: Request;
  url: URL;
  /** The segments of the path, `/api/external/...`. The first one is empty. */
  segments: string[];
  env: Env;
  now: number;
  db: D1DatabaseSession;
  /** The caller of the external API. */
  caller: FloorCaller;
}

/** Returns the body, or null if nothing is found. */
export type FloorHandler = (request: FloorRequest) => Promise<object | null>;

const HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Content-Type": "application/json",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Origin-Agent-Cluster": "?1",
  "Referrer-Policy": "no-referrer",
  "Strict-Transport-Security": "max-age=15552000; includeSubDomains",
  "X-Content-Type-Options": "nosniff",
  "X-DNS-Prefetch-Control": "off",
  "X-Download-Options": "noopen",
  "X-Frame-Options": "SAMEORIGIN",
  "X-Permitted-Cross-Domain-Policies": "none",
  "X-XSS-Protection": "0",
};

const FROM_ANY_REPLICA = /calls\/\d+\/transcript$|call_metrics$/;

const handlers: Record<string, FloorHandler> = { ...floorReads, ...floorWrites };

export async function floor(request: Request, env: Env): Promise<Response> {
  const url = new URL(request.url);
  const now = Date.now();
  const segments = url.pathname.split("/");
  const [, , api, first] = segments;
  // Names and parameters alternate, so the names and the number of segments identify a route.
  const route = [request.method, api, first, segments[5], segments[7], segments.length]
    .filter(Boolean)
    .join(" ");
  const start = FROM_ANY_REPLICA.test(url.pathname) ? "first-unconstrained" : "first-primary";
  const db = env.DB.withSession(start);
  const caller = await (api === "platform" ? platform(request, env) : client(request, env, now));
  if (!caller) return respond(401, { error: "Invalid credentials" });
  if (api === "external") {
    for (const [counter, id] of [
      [env.CLIENT_LIMIT, caller.api_client_id],
      [env.ORGANIZATION_LIMIT, caller.organization_id],
    ] as const) {
      const { success } = await counter.limit({ key: String(id) });
      if (!success) return respond(429, { error: "Too many requests" });
    }
  }
  const body = await handlers[route]?.({ request, url, segments, env, now, db, caller });
  if (!body) return respond(404, { error: "Not found" });
  const limit = api === "external" && {
    "RateLimit-Policy": `"client";q=${env.CLIENT_LIMIT_PER_MINUTE};w=60, "organization";q=${env.ORGANIZATION_LIMIT_PER_MINUTE};w=60`,
  };
  const bookmark = db.getBookmark();
  return respond(request.method === "POST" ? 201 : 200, body, {
    ...limit,
    ...(bookmark && { "X-D1-Bookmark": bookmark }),
  });
}

const respond = (status: number, body: object, headers: object = {}) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { ...HEADERS, "X-Request-Id": crypto.randomUUID(), ...headers },
  });

const sha256 = async (text: string) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

async function platform(request: Request, env: Env): Promise<FloorCaller | null> {
  const token = request.headers.get("Authorization")?.slice("Bearer ".length) ?? "";
  const isRight = crypto.subtle.timingSafeEqual(await sha256(token), await sha256(env.PLATFORM_API_TOKEN));
  return isRight ? ({} as FloorCaller) : null;
}

async function client(request: Request, env: Env, now: number): Promise<FloorCaller | null> {
  const [id, secret] = [request.headers.get("X-Client-ID"), request.headers.get("X-Client-Secret")];
  const known = id && secret ? await recall(env.DB, id, now) : null;
  if (!known || !secret) return null;
  return crypto.subtle.timingSafeEqual(await sha256(secret), known.digest) ? known.caller : null;
}

const knownClients = new Map<string, { caller: FloorCaller; digest: Uint8Array; looked_up_at: number }>();

async function recall(db: D1Database, client_id: string, now: number) {
  const known = knownClients.get(client_id);
  if (known && now - known.looked_up_at < 10_000) return known;
  const row = await db
    .prepare(
      `select c.id as api_client_id, c.organization_id, c.organization_user_id, c.secret_digest, m.id as user_id, m.roles
      from api_clients c join organization_users m on m.id = c.organization_user_id
      where c.client_id = ? and c.revoked_at is null`,
    )
    .bind(client_id)
    .first<Omit<FloorCaller, "roles"> & { roles: string; secret_digest: string }>();
  if (!row) return null;
  const { secret_digest, roles, ...ids } = row;
  const caller = { ...ids, roles: JSON.parse(roles) };
  const found = { caller, digest: new Uint8Array(Buffer.from(secret_digest, "hex")), looked_up_at: now };
  knownClients.set(client_id, found);
  return found;
}

export default { fetch: floor };
