/**
 * The floor: the least that gives the same bytes, to measure ours against. No router, no schemas, no query builder; one
 * prepared statement a request where one can do it. It takes requests for granted that are good: nothing is validated,
 * and refusals are a bare status. What security asks for is the same: the caller's digest, who may see what, and rules
 * that hold in the statement that writes.
 */

import { organizations } from "./floor_organizations.ts";
import { isPlatform, platformSetUp } from "./floor_platform.ts";
import { reads } from "./floor_reads.ts";
import { platformReports } from "./floor_reports.ts";
import { results } from "./floor_results.ts";
import { signIn } from "./floor_sign_in.ts";
import { webhookEndpoints } from "./floor_webhook_endpoints.ts";
import { writes } from "./floor_writes.ts";

export interface FloorCaller {
  api_client_id: number;
  organization_id: number;
  organization_user_id: number;
  user_id: number;
  roles: string[];
}

/** What a request brings; the segments are those of its path, `/api/external/...`, the first one empty. */
export interface PlatformFloorRequest {
  request: Request;
  url: URL;
  segments: string[];
  env: Env;
  now: number;
  /** The primary; for reads of what ended calls left behind, the nearest replica. */
  db: D1DatabaseSession;
}

/** One through the external door. */
export interface FloorRequest extends PlatformFloorRequest {
  caller: FloorCaller;
}

/** null stands for what is not there. */
export type FloorHandler<R = FloorRequest> = (request: R) => Promise<FloorAnswer | null>;

export interface FloorAnswer {
  status?: number;
  body?: object;
  headers?: Record<string, string>;
}

interface KnownClient {
  caller: FloorCaller;
  digest: Uint8Array;
  looked_up_at: number;
}

const FRESH_FOR = 10_000;

const HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
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

const JSON_HEADERS = { ...HEADERS, "Content-Type": "application/json" };

const FROM_ANY_REPLICA = /calls\/\d+\/(transcript|soap_note)$|call_metrics$|\/events$/;

const externalRoutes: Record<string, FloorHandler> = {
  ...reads,
  ...results,
  ...writes,
  ...signIn,
  ...webhookEndpoints,
};

const platformRoutes: Record<string, FloorHandler<PlatformFloorRequest>> = {
  ...organizations,
  ...platformSetUp,
  ...platformReports,
};

const encoder = new TextEncoder();

const known = new Map<string, KnownClient>();

export async function floor(request: Request, env: Env): Promise<Response> {
  const url = new URL(request.url);
  const now = Date.now();
  const segments = url.pathname.split("/");
  // Literals and parameters take turns from the third segment on: its shape names the route.
  const shape = [request.method, segments.length, segments[3], segments[5], segments[7], segments[9]]
    .join(" ")
    .trimEnd();
  const start = FROM_ANY_REPLICA.test(url.pathname) ? "first-unconstrained" : "first-primary";
  const db = env.DB.withSession(start);
  const brought = { request, url, segments, env, now, db };
  let answer: FloorAnswer | null | undefined;
  if (segments[2] === "platform") {
    if (!(await isPlatform(request, env))) return refuse(401, "Invalid platform token");
    answer = await platformRoutes[shape]?.(brought);
  } else {
    const caller = await authenticate(request, env.DB, now);
    if (!caller) return refuse(401, "Invalid client credentials");
    const { success } = await env.CLIENT_LIMIT.limit({ key: String(caller.api_client_id) });
    if (!success) return refuse(429, "Too many requests");
    answer = await externalRoutes[shape]?.({ ...brought, caller });
  }
  if (!answer) return refuse(404, "Not found");
  const { status = 200, body, headers } = answer;
  const bookmark = db.getBookmark();
  return new Response(body === undefined ? null : JSON.stringify(body), {
    status,
    headers: {
      ...(body === undefined ? HEADERS : JSON_HEADERS),
      ...(segments[2] === "external" && {
        "RateLimit-Policy": `"client";q=${env.CLIENT_LIMIT_PER_MINUTE};w=60`,
      }),
      ...(bookmark && { "X-D1-Bookmark": bookmark }),
      "X-Request-Id": crypto.randomUUID(),
      ...headers,
    },
  });
}

const refuse = (status: number, error: string) =>
  Response.json({ error }, { status, headers: { ...HEADERS, "X-Request-Id": crypto.randomUUID() } });

async function authenticate(request: Request, db: D1Database, now: number): Promise<FloorCaller | null> {
  const [id, secret] = [request.headers.get("X-Client-ID"), request.headers.get("X-Client-Secret")];
  if (!id || !secret) return null;
  const client = await recall(db, id, now);
  if (!client) return null;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(secret)));
  return crypto.subtle.timingSafeEqual(digest, client.digest) ? client.caller : null;
}

async function recall(db: D1Database, client_id: string, now: number): Promise<KnownClient | null> {
  const remembered = known.get(client_id);
  if (remembered && now - remembered.looked_up_at < FRESH_FOR) return remembered;
  const row = await db
    .prepare(
      `select c.id as api_client_id, c.organization_id, c.organization_user_id, c.secret_digest, m.user_id, m.roles
      from api_clients c join organization_users m on m.id = c.organization_user_id
      where c.client_id = ? and c.revoked_at is null`,
    )
    .bind(client_id)
    .first<Omit<FloorCaller, "roles"> & { roles: string; secret_digest: string }>();
  if (!row) return null;
  const { secret_digest, roles, ...ids } = row;
  const client = {
    caller: { ...ids, roles: JSON.parse(roles) },
    digest: new Uint8Array(Buffer.from(secret_digest, "hex")),
    looked_up_at: now,
  };
  known.set(client_id, client);
  return client;
}

export default { fetch: floor };
