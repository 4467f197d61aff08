import * as z from "zod";
import { ERROR_CODE } from "../http/errors.ts";
import { LIMIT_NAMES, rateLimitPolicy } from "../http/rate_limits.ts";
import { BOOKMARK as BOOKMARK_FORMAT } from "../http/replication.ts";
import * as lifetimes from "../lifetimes.ts";
import type { Header } from "../openapi/operation.ts";
import { DAY, SECOND } from "../units.ts";
import type { Api } from "./apis.ts";
import { operator } from "./operator.ts";

type Headers = Record<string, Header>;

const COMMON: Headers = {
  "X-Request-Id": {
    description: "The id of the request in the service's log.",
    example: "5b0c7a0e-2f6d-4a2b-9c7e-0d3f4b1a6c58",
    schema: z.uuid(),
    required: true,
  },
};

export const BOOKMARK_EXAMPLE = "00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683";

export const bookmark = () =>
  z
    .string()
    .max(BOOKMARK_EXAMPLE.length + 6)
    .regex(BOOKMARK_FORMAT);

const BOOKMARK: Headers = {
  "X-D1-Bookmark": {
    description:
      "The state of the database that the response is based on. A GET that sends this header back sees at least this state. It is absent if the request did not reach the database, or if the database refused a write.",
    example: BOOKMARK_EXAMPLE,
    schema: bookmark(),
  },
};

const NAME = `"(${LIMIT_NAMES.join("|")})"`;

const POLICY = `${NAME};q=[0-9]+;w=${lifetimes.RATE_LIMIT_PERIOD}`;

const limitPolicy = (...limits: [name: string, limit: number][]): Headers => ({
  "RateLimit-Policy": {
    description:
      "The number of requests (`q`) allowed in a number of seconds (`w`), as in draft-ietf-httpapi-ratelimit-headers. An operation with its own limit names that too.",
    example: limits.map(([name, limit]) => rateLimitPolicy(name, limit)).join(", "),
    schema: z
      .string()
      .max(150)
      .regex(new RegExp(`^${POLICY}(, ${POLICY}){0,2}$`)),
  },
});

const POLICIES: Record<Api, Headers> = {
  external: limitPolicy(
    ["client", operator.CLIENT_LIMIT_PER_MINUTE],
    ["organization", operator.ORGANIZATION_LIMIT_PER_MINUTE],
  ),
  platform: limitPolicy(["address", operator.FAILURE_LIMIT_PER_MINUTE]),
  livekit: limitPolicy(["address", operator.FAILURE_LIMIT_PER_MINUTE]),
};

const WAITS = [
  lifetimes.DATABASE_RETRY_AFTER,
  lifetimes.WRITE_RETRY_AFTER,
  lifetimes.PROVIDER_RETRY_AFTER,
  lifetimes.RATE_LIMIT_PERIOD,
  lifetimes.FILE_DELETION_RETRY_AFTER,
  lifetimes.BULK_ROWS_RETRY_AFTER,
  // Until the end of the day.
  DAY / SECOND,
];

export const RETRY_AFTER: Headers = {
  "Retry-After": {
    description: "Try again after this number of seconds.",
    required: true,
    example: lifetimes.RATE_LIMIT_PERIOD,
    schema: z
      .int()
      .min(Math.min(...WAITS))
      .max(Math.max(...WAITS)),
  },
};

/** The headers of every response, as far as its request got. */
export const commonHeaders = (api: Api): Headers => ({
  ...COMMON,
  ...(api === "external" ? POLICIES.external : {}),
  ...BOOKMARK,
});

export const tooManyHeaders = (api: Api): Headers => ({
  ...COMMON,
  ...RETRY_AFTER,
  ...POLICIES[api],
  RateLimit: {
    description:
      "The requests left (`r`, always 0), and the maximum number of seconds until there are more (`t`). It is absent if the limit is not a number of requests.",
    example: `"${api === "external" ? "client" : "address"}";r=0;t=${lifetimes.RATE_LIMIT_PERIOD}`,
    schema: z
      .string()
      .max(30)
      .regex(new RegExp(`^${NAME};r=0;t=${lifetimes.RATE_LIMIT_PERIOD}$`)),
  },
});

/** @param codes the error codes of one status of an operation */
export const errorCode = (codes: readonly string[]): Headers => ({
  [ERROR_CODE]: {
    description: "The error code, for programs. Later versions may add codes.",
    required: true,
    example: codes[0] ?? "",
    schema: z.enum(codes),
  },
});

export const REPLAYED: Headers = {
  "Idempotent-Replayed": {
    description:
      "`true` if the request was carried out before and this is the stored response. Otherwise it is absent.",
    example: "true",
    schema: z.literal("true"),
  },
};

/** The headers that many responses share, which a document contains only once. */
const shared = (api: Api): Headers => ({
  ...commonHeaders(api),
  ...tooManyHeaders(api),
  ...(api === "external" ? REPLAYED : {}),
});

export const sharedHeaders = (api: Api) =>
  Object.fromEntries(Object.entries(shared(api)).map(([name, header]) => [name, headerObject(header)]));

/** The headers in OpenAPI's form, with references to the shared ones. */
export function headersOf(api: Api, headers: Headers) {
  const known = shared(api);
  return Object.fromEntries(
    Object.entries(headers).map(([name, header]) => [
      name,
      name in known ? { $ref: `#/components/headers/${name}` } : headerObject(header),
    ]),
  );
}

function headerObject({ schema, ...header }: Header) {
  const { $schema, ...json } = z.toJSONSchema(schema);
  return { ...header, schema: json as { type: "string" | "integer" } };
}
