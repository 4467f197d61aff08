import type { HonoRequest } from "hono";
import type { ClientContext, Context } from "../context.ts";
import { RATE_LIMIT_PERIOD } from "../lifetimes.ts";
import { ANSWER_OF_ONE_REQUEST, BODY_OF_ONE_REQUEST, LOOK_UPS_BEYOND_LIMIT } from "../limits.ts";
import { remember } from "../memory.ts";
import { MAX_REMEMBERED } from "../tuning.ts";
import { grouped } from "../units.ts";
import { ApiError } from "./errors.ts";

/*
 * A counter of Cloudflare only counts up, so a request with valid credentials never counts as a failure. The responses follow
 * draft-ietf-httpapi-ratelimit-headers.
 */

interface Limited {
  env: Pick<Env, "CLIENT_LIMIT" | "ORGANIZATION_LIMIT" | "FAILURE_LIMIT">;
  req: Pick<HonoRequest, "header">;
  header: (name: string, value: string, options?: { append?: boolean }) => void;
}

/** Addresses beyond their limit: until when that applies, and how many lookups they have left. */
const beyondLimit = new Map<string, { until: number; lookUps: number }>();

/**
 * The client's limit first, so that one client out of control does not use up the requests of the others.
 *
 * @throws ApiError 429
 */
export async function countRequest(c: Limited, context: ClientContext): Promise<void> {
  for (const [name, counter, id, limit] of limitsOf(c, context)) await countFor(c, name, counter, id, limit);
}

const limitsOf = ({ env }: Counters, { caller, settings }: ClientContext) =>
  [
    ["client", env.CLIENT_LIMIT, caller.api_client_id, settings.CLIENT_LIMIT_PER_MINUTE],
    ["organization", env.ORGANIZATION_LIMIT, caller.organization_id, settings.ORGANIZATION_LIMIT_PER_MINUTE],
  ] as const;

/**
 * A long body takes as much time as several requests. `size` is in bytes.
 *
 * @throws ApiError 429
 */
export async function countBodyLength(c: Counters, context: ClientContext, size: number): Promise<void> {
  const beyond = await countAgain(c, context, Math.ceil(size / BODY_OF_ONE_REQUEST) - 1);
  if (beyond) throw beyond;
}

/** A long answer counts too, but is given even beyond a limit. `length` is in characters, and may be an estimate. */
export async function countAnswerLength(c: Counters, context: ClientContext, length: number): Promise<void> {
  await countAgain(c, context, Math.ceil(length / ANSWER_OF_ONE_REQUEST) - 1);
}

/** A part of a streamed answer counts as a request of its own. `length` is in characters. */
export async function countPart(c: Counters, context: ClientContext, length: number): Promise<void> {
  await countAgain(c, context, Math.ceil(length / ANSWER_OF_ONE_REQUEST));
}

type Counters = Pick<Limited, "env">;

async function countAgain(c: Counters, context: ClientContext, times: number) {
  for (const [name, counter, id, limit] of limitsOf(c, context)) {
    const counted = Array.from({ length: times }, () => counter.limit({ key: String(id) }));
    if ((await Promise.all(counted)).some(({ success }) => !success)) return tooMany(name, limit);
  }
  return undefined;
}

/** @throws ApiError 429 beyond the limit */
export async function countFor(
  c: Pick<Limited, "header">,
  name: LimitName,
  counter: RateLimit,
  id: number,
  limit: number,
): Promise<void> {
  const { success } = await counter.limit({ key: String(id) });
  if (!success) throw tooMany(name, limit);
  c.header("RateLimit-Policy", rateLimitPolicy(name, limit), { append: true });
}

/** The refusal for missing or wrong credentials: 401, or 429 if the address is beyond its limit. */
export async function failedCredentials(
  c: Limited,
  { now, settings }: Pick<Context, "now" | "settings">,
  refusal: ApiError,
): Promise<ApiError> {
  const limit = settings.FAILURE_LIMIT_PER_MINUTE;
  const address = senderOf(c);
  const { success } = await c.env.FAILURE_LIMIT.limit({ key: address });
  if (success) return refusal;
  if (!((beyondLimit.get(address)?.until ?? 0) > now)) {
    const until = now + RATE_LIMIT_PERIOD * 1000;
    remember(beyondLimit, address, { until, lookUps: LOOK_UPS_BEYOND_LIMIT }, MAX_REMEMBERED);
  }
  return tooMany("address", limit);
}

/**
 * Only D1 knows whether a client is valid: some lookups remain for valid ones at an address beyond its limit.
 *
 * @throws ApiError 429
 */
export function countLookUp(c: Limited, { now, settings }: Pick<Context, "now" | "settings">): void {
  const beyond = beyondLimit.get(senderOf(c));
  if (beyond && beyond.until > now && --beyond.lookUps < 0)
    throw tooMany("address", settings.FAILURE_LIMIT_PER_MINUTE);
}

/**
 * Cloudflare sets this header whatever the caller sends. Callers could forge any other one. Without it, all share one address.
 */
export const senderOf = (c: Pick<Limited, "req">): string =>
  networkOf(c.req.header("CF-Connecting-IP") ?? "");

const TOO_MANY = {
  client: ["This API client has sent too many requests", "client_limit"],
  organization: ["The organization's API clients have sent too many requests", "organization_limit"],
  bulk_invites: ["The organization's API clients have sent too many bulk invites", "bulk_invite_limit"],
  redeliveries: [
    "The organization's API clients have asked for too many redeliveries and pings",
    "redelivery_limit",
  ],
  access_logs: [
    "The organization's API clients have asked for too many exports, whole days or NDJSON lists of the access log",
    "access_log_limit",
  ],
  address: [
    "Too many requests with missing or wrong credentials have come from this address",
    "address_limit",
  ],
} as const;

type LimitName = keyof typeof TOO_MANY;

/** @param limit requests per minute */
export function tooMany(name: LimitName, limit: number): ApiError {
  const [text, code] = TOO_MANY[name];
  const headers = {
    "Retry-After": String(RATE_LIMIT_PERIOD),
    // The counter does not say when it resets, but it does within its period.
    RateLimit: `"${name}";r=0;t=${RATE_LIMIT_PERIOD}`,
    "RateLimit-Policy": rateLimitPolicy(name, limit),
  };
  const message = `${text}: at most ${grouped(limit)} a minute are served; try again in ${RATE_LIMIT_PERIOD} seconds`;
  return new ApiError(429, code, message, { headers, reason: code });
}

export const LIMIT_NAMES = Object.keys(TOO_MANY);

export const rateLimitPolicy = (name: string, limit: number) => `"${name}";q=${limit};w=${RATE_LIMIT_PERIOD}`;

/** For rate limits. An IPv6 connection has at least 64 bits of addresses, and could send each request from another one. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  // The URL parser normalizes an address: lower case, no leading zeros, no IPv4 notation.
  const written = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? "";
  const [start = [], end = []] = written.split("::").map((part) => part.split(":").filter(Boolean));
  const groups = [...start, ...Array(8 - start.length - end.length).fill("0"), ...end];
  if (groups.slice(0, 6).join() === "0,0,0,0,0,ffff") {
    const bytes = groups.slice(6).flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255]);
    return bytes.join(".");
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}
