import { BOOKMARK } from "../http/replication.ts";
import {
  FILE_DELETION_RETRY_AFTER,
  MAX_EMAIL_LENGTH,
  MAX_OLD_WEBHOOK_SECRETS,
  PROVIDER_RETRY_AFTER,
  RATE_LIMIT_PERIOD,
  WRITE_RETRY_AFTER,
} from "../limits.ts";

/*
 * What is known of every value of some kind, so that no schema needs to say it: how large an integer can be, how long a
 * timestamp is, what a header looks like. In patterns, control characters are \x00-\x1f\x7f-\x9f and digits are [0-9]:
 * every language of regular expressions understands that, and not \p{Cc}.
 */

type Json = Record<string, unknown>;

/** `"client";q=1200;w=60`: see http/rate_limits.ts. The numbers are the operator's settings. */
const POLICY_PATTERN = `^"(client|address)";q=[0-9]+;w=${RATE_LIMIT_PERIOD}$`;

/** `v1,` and a digest of 32 bytes in base64, for each valid secret. */
const SIGNATURE = "v1,[A-Za-z0-9+/]{43}=";
const SIGNATURE_LENGTH = "v1,".length + 44;

/** What a bookmark has: 8, 8, 8 and 32 digits, with hyphens between them. */
const BOOKMARK_LENGTH = 59;

/** The digits of the largest integer. */
const INTEGER_LENGTH = String(Number.MAX_SAFE_INTEGER).length;

/** All that `Retry-After` says, in seconds. */
const WAITS = [WRITE_RETRY_AFTER, PROVIDER_RETRY_AFTER, RATE_LIMIT_PERIOD, FILE_DELETION_RETRY_AFTER];

const text = (pattern: string, maxLength: number) => ({ type: "string", pattern, maxLength });

const HEADERS: Record<string, Json> = {
  "X-Request-Id": { type: "string", format: "uuid" },
  "X-D1-Bookmark": text(BOOKMARK.source, BOOKMARK_LENGTH),
  // HTTP itself takes nothing else in a header. Its schema gives the length.
  "Idempotency-Key": { pattern: "^[\\t\\x20-\\x7e\\x80-\\xff]+$" },
  "Idempotent-Replayed": { type: "string", const: "true" },
  Location: text("^/api/external/[a-z0-9_/]+$", 100),
  "Retry-After": { type: "integer", minimum: Math.min(...WAITS), maximum: Math.max(...WAITS) },
  RateLimit: text(`^"(client|address)";r=0;t=${RATE_LIMIT_PERIOD}$`, 20),
  "RateLimit-Policy": text(POLICY_PATTERN, 40),
  "webhook-id": text("^(evt_[0-9]+|ping_[0-9a-f-]{36})$", "ping_".length + 36),
  "webhook-timestamp": text("^[0-9]+$", INTEGER_LENGTH),
  "webhook-signature": text(
    `^${SIGNATURE}( ${SIGNATURE})*$`,
    (SIGNATURE_LENGTH + 1) * (1 + MAX_OLD_WEBHOOK_SECRETS) - 1,
  ),
};

/** Texts of these formats are never longer, and those of the service are all like `2026-01-31T09:30:00.000Z`. */
const MAX_LENGTHS: Record<string, number> = {
  "date-time": "2026-01-31T09:30:00.000Z".length,
  date: "2026-01-31".length,
  email: MAX_EMAIL_LENGTH,
  uuid: 36,
};

const INT32 = 2 ** 31;

/** The document with these bounds, where its schemas do not have their own. */
export function bounded<Value>(value: Value, path: string[] = []): Value {
  if (Array.isArray(value)) return value.map((each) => bounded(each, [...path, "*"])) as Value;
  if (typeof value !== "object" || value === null) return value;
  const known = withHeader(value as Json, path);
  const json = Object.fromEntries(
    Object.entries(known).map(([name, each]) => [
      name,
      VALUES.has(name) && !isMap(path) ? each : bounded(each, [...path, name]),
    ]),
  );
  return withBounds(json, isReceived(path)) as Value;
}

/** Under these words of a schema, a parameter or a body are values, and not schemas. */
const VALUES = new Set(["example", "examples", "default", "enum", "const"]);

/** In such an object, the words are names that we choose. */
const isMap = (path: string[]) => ["properties", "headers"].includes(path.at(-1) ?? "");

/** Requests of other people may have what the service never sends. */
const isReceived = ([part, , , at]: string[]) =>
  part === "paths" && (at === "parameters" || at === "requestBody");

/** A header of a response, or one that a request has as a parameter. */
function withHeader(json: Json, path: string[]): Json {
  const name = json.in === "header" ? json.name : path.at(-2) === "headers" && path.at(-1);
  const schema = HEADERS[String(name)];
  return schema ? { ...json, schema: { ...(json.schema as Json), ...schema } } : json;
}

function withBounds(json: Json, received: boolean): Json {
  const types = [json.type].flat();
  if (types.includes("integer")) return integer(json, received);
  if (types.includes("string")) {
    const maxLength = MAX_LENGTHS[String(json.format)];
    const isFree = received && json.format === "date-time";
    return maxLength === undefined || isFree ? json : { maxLength, ...json };
  }
  const choices = (json.items as Json | undefined)?.enum;
  // Those that the service sends are sets.
  if (types.includes("array") && !received && Array.isArray(choices))
    return { maxItems: choices.length, ...json };
  return json;
}

/** JSON's integers are exact up to 2^53. No integer of the service is negative. */
function integer(json: Json, received: boolean): Json {
  const { minimum = received || "exclusiveMinimum" in json ? undefined : 0 } = json;
  const { maximum = "exclusiveMaximum" in json ? undefined : Number.MAX_SAFE_INTEGER } = json;
  const isSmall = Number(minimum) >= -INT32 && Number(maximum) < INT32;
  return {
    ...json,
    format: isSmall ? "int32" : "int64",
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  };
}
