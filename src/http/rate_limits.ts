import type { HonoRequest } from "hono";
import type { ClientContext, Context } from "../context.ts";
import { RATE_LIMIT_PERIOD } from "../lifetimes.ts";
import { LOOK_UPS_BEYOND_LIMIT } from "../limits.ts";
import { remember } from "../memory.ts";
import { MAX_REMEMBERED } from "../tuning.ts";
import { ApiError } from "./errors.ts";
import { networkOf } from "./networks.ts";

/*
 * The limits, with the platform's counters (wrangler.toml): the requests of an API client, those of its organization, those
 * of an organization that cost a thousand times as much, and the requests of an address whose credentials fail. A counter can only be counted
 * up, so what is right is never counted as a failure, and is served whatever its address has done. The responses follow
 * draft-ietf-httpapi-ratelimit-headers.
 */

/** What is needed of Hono's context, whatever its API. */
interface Limited {
  env: Pick<Env, "CLIENT_LIMIT" | "ORGANIZATION_LIMIT" | "FAILURE_LIMIT">;
  req: Pick<HonoRequest, "header">;
  header: (name: string, value: string, options?: { append?: boolean }) => void;
}

/** Addresses that went beyond their limit, until when that counts, and how many look-ups they still have. */
const beyondLimit = new Map<string, { until: number; lookUps: number }>();

/**
 * A refused request of a client does not count for its organization, so that one client out of control leaves the others theirs.
 *
 * @throws ApiError 429 if the client or its organization is beyond its limit
 */
export async function countRequest(c: Limited, { caller, settings }: ClientContext): Promise<void> {
  const { api_client_id, organization_id } = caller;
  await countFor(c, "client", c.env.CLIENT_LIMIT, api_client_id, settings.CLIENT_LIMIT_PER_MINUTE);
  const limit = settings.ORGANIZATION_LIMIT_PER_MINUTE;
  await countFor(c, "organization", c.env.ORGANIZATION_LIMIT, organization_id, limit);
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

/** The refusal of a request whose credentials are missing or wrong: 401, or 429 beyond the limit of its address. */
export async function failedCredentials(
  c: Limited,
  { now, settings }: Context,
  message: string,
): Promise<ApiError> {
  const limit = settings.FAILURE_LIMIT_PER_MINUTE;
  const address = addressOf(c);
  const { success } = await c.env.FAILURE_LIMIT.limit({ key: address });
  if (success) return new ApiError(401, message);
  if (!((beyondLimit.get(address)?.until ?? 0) > now)) {
    const until = now + RATE_LIMIT_PERIOD * 1000;
    remember(beyondLimit, address, { until, lookUps: LOOK_UPS_BEYOND_LIMIT }, MAX_REMEMBERED);
  }
  return tooMany("address", limit);
}

/**
 * Whether an unknown client is right, only D1 can say. So that one that is right is served even if others at its address
 * are not, an address beyond its limit still has some look-ups. After them, made-up ids do not reach D1.
 *
 * @throws ApiError 429 if the address has none left
 */
export function countLookUp(c: Limited, { now, settings }: Context): void {
  const beyond = beyondLimit.get(addressOf(c));
  if (beyond && beyond.until > now && --beyond.lookUps < 0)
    throw tooMany("address", settings.FAILURE_LIMIT_PER_MINUTE);
}

/**
 * Cloudflare sets the header, whatever the caller sends, and `wrangler dev` sets it where it is missing. Without it, all
 * requests have the same address: callers could make up what other headers say, and so have a new one for each request.
 */
const addressOf = (c: Limited): string => networkOf(c.req.header("CF-Connecting-IP") ?? "");

const TOO_MANY = {
  client: ["This API client has sent too many requests", "client_limit"],
  organization: ["The organization's API clients have sent too many requests", "organization_limit"],
  bulk_invites: ["The organization's API clients have sent too many bulk invites", "bulk_invite_limit"],
  redeliveries: [
    "The organization's API clients have asked for too many redeliveries and pings",
    "redelivery_limit",
  ],
  access_logs: [
    "The organization's API clients have asked for too many whole days or NDJSON lists of the access log",
    "access_log_limit",
  ],
  address: [
    "Too many requests with missing or wrong credentials have come from this address",
    "address_limit",
  ],
} as const;

type LimitName = keyof typeof TOO_MANY;

export function tooMany(name: LimitName, limit: number): ApiError {
  const [, reason] = TOO_MANY[name];
  const headers = {
    "Retry-After": String(RATE_LIMIT_PERIOD),
    // The counter does not say when it begins anew: at the latest after its period.
    RateLimit: `"${name}";r=0;t=${RATE_LIMIT_PERIOD}`,
    "RateLimit-Policy": rateLimitPolicy(name, limit),
  };
  return new ApiError(429, tooManyText(name, limit), { headers, reason });
}

/** The names of the limits, as `RateLimit-Policy` has them. */
export const LIMIT_NAMES = Object.keys(TOO_MANY);

/** @param limit requests a minute */
export const tooManyText = (name: LimitName, limit: number) =>
  `${TOO_MANY[name][0]}: at most ${limit} a minute are served; try again in ${RATE_LIMIT_PERIOD} seconds`;

export const rateLimitPolicy = (name: string, limit: number) => `"${name}";q=${limit};w=${RATE_LIMIT_PERIOD}`;
