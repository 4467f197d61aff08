import * as z from "zod";
import { BAD_ACTING_HEADERS, NOBODY_ACTS } from "../http/acting_user.ts";
import type { CostlyRequest } from "../http/costly_requests.ts";
import {
  bodyTooLarge,
  bodyTooSlow,
  databaseUnavailable,
  internalError,
  noSuchPath,
  notJson,
  organizationMoves,
  writeConflict,
} from "../http/errors.ts";
import { httpsRequired } from "../http/https.ts";
import { BAD_KEY } from "../http/idempotency_key.ts";
import { tooManyText } from "../http/rate_limits.ts";
import { explainIssues, type Input } from "../http/validation.ts";
import { ONE_LINE } from "../http/wire.ts";
import {
  EXTERNAL_BODY_LIMIT,
  LIVEKIT_BODY_LIMIT,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  PLATFORM_BODY_LIMIT,
} from "../limits.ts";
import type { Operation } from "../openapi/operation.ts";
import { keyWasUsed } from "../resources/idempotency_keys/idempotency_keys.refusals.ts";
import {
  tooManyEntries,
  tooManyEntriesOfClient,
  tooManyWrites,
  tooManyWritesOfClient,
} from "../resources/usage/usage.refusals.ts";
import { APIS, type Api } from "./apis.ts";
import { errorExamples } from "./examples.ts";
import {
  commonHeaders,
  headersOf,
  RETRY_AFTER,
  tooManyHeaders,
  unauthorizedHeaders,
  unreadHeaders,
} from "./headers.ts";
import { operator } from "./operator.ts";

const errorSchema = z
  .object({
    error: z
      .string()
      .max(10_000)
      .regex(new RegExp(ONE_LINE))
      .describe(
        "What is wrong, and what would be right, for people to read. Texts are stable, but new ones may come.",
      ),
  })
  .meta({ id: "ErrorResponse", description: "Why the request was refused." });

const BODY_LIMITS: Record<Api, number> = {
  external: EXTERNAL_BODY_LIMIT,
  platform: PLATFORM_BODY_LIMIT,
  livekit: LIVEKIT_BODY_LIMIT,
};

/** What the middleware of a route says of it. */
export interface Route {
  /** The input that it validates. */
  inputs: Input[];
  /** Its rate limit, where it has one of its own. */
  limited?: CostlyRequest;
  /** Whether the access log records it as a read. */
  isRecorded?: boolean;
  /** Whether the quotas of a day never refuse it. */
  isOutsideQuotas?: boolean;
}

type Refusal = [status: number, reason: string | undefined, errors: readonly string[]];

/** The refusals that are common to such requests, and the operation's own. Each error has its text as an example. */
export function refusalsOf(api: Api, method: string, route: Route, operation: Operation) {
  const { refusals = {}, errors = [] } = operation;
  const all: Refusal[] = [
    ...commonRefusals(api, method, route, operation),
    ...Object.entries(refusals).map(([status, reason]): Refusal => [Number(status), reason, []]),
    ...errors.map(({ status, message }): Refusal => [status, undefined, [message]]),
  ];
  const byStatus = [...Map.groupBy(all, ([status]) => status)].map(([status, its]) => {
    const reasons = its.flatMap(([, reason]) => reason ?? []);
    const texts = [...new Set(its.flatMap(([, , texts]) => texts))];
    return [
      status,
      {
        description: reasons.join(" ") || defaultReasons(api)[status] || "",
        headers: headersOf(api, headersFor(api, method, status, operation)),
        content: { "application/json": { schema: errorSchema, ...errorExamples(texts) } },
      },
    ] as const;
  });
  return Object.fromEntries(byStatus);
}

export const hasError = ({ errors = [] }: Operation, status: number) =>
  errors.some((error) => error.status === status);

const defaultReasons = (api: Api): Record<number, string> => ({
  400: "The request is not valid.",
  404:
    api === "external"
      ? "Something in the path does not exist, or is out of the caller's reach."
      : "Something in the path does not exist.",
  409: "The request was carried out before.",
  422: "The state of something does not allow the request.",
  503: "It cannot be done now. `Retry-After` says when to try again.",
});

function commonRefusals(
  api: Api,
  method: string,
  { inputs, limited, isRecorded, isOutsideQuotas = method === "DELETE" }: Route,
  operation: Operation,
): Refusal[] {
  const { body } = operation;
  const of = (target: Input["target"]) => inputs.find((input) => input.target === target);
  const [query, param, json, key] = [of("query"), of("param"), of("json"), of("header")];
  const all: Refusal[] = [];
  if (json || body) all.push([400, "The body is not JSON.", [notJson().message]]);
  if (query) all.push([400, "A query parameter is not valid.", [exampleFault(query.schema(), "?")]]);
  if (key)
    all.push([
      400,
      `The \`Idempotency-Key\` does not have 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters.`,
      [BAD_KEY],
    ]);
  if (api === "external")
    all.push([400, "`X-Acting-User` or `X-Purpose-Of-Use` is not valid.", BAD_ACTING_HEADERS]);
  if (isRecorded) all.push([400, "The organization wants to know who reads it, and why.", [NOBODY_ACTS]]);
  all.push([401, APIS[api].unauthorized, [APIS[api].unauthorizedError]]);
  all.push([403, "The request came by plain HTTP.", [httpsRequired().message]]);
  if (param) all.push([404, undefined, [noSuchPath().message]]);
  if (json || body) {
    const limit = json?.limit ?? BODY_LIMITS[api];
    all.push([408, "The body did not arrive in time.", [bodyTooSlow().message]]);
    all.push([413, "The body is too large.", [bodyTooLarge(limit).message]]);
  }
  if (json) {
    const reason = hasError(operation, 422)
      ? "The body is not valid, or what it asks for cannot be done."
      : "The body does not match its schema.";
    all.push([422, reason, [exampleFault(json.schema())]]);
  }
  if (key) all.push([422, "The `Idempotency-Key` was used for another request.", [keyWasUsed().message]]);
  all.push([429, APIS[api].tooMany, tooManyErrors(api)]);
  if (api === "external" && !isOutsideQuotas) {
    if (method !== "GET")
      all.push([429, undefined, [tooManyWritesOfClient().message, tooManyWrites().message]]);
    if (isRecorded) all.push([429, undefined, [tooManyEntriesOfClient().message, tooManyEntries().message]]);
  }
  if (limited) {
    const { text, limit } = COSTLY[limited];
    all.push([
      429,
      `Of ${text}, the API clients of an organization can send ${limit} a minute.`,
      [tooManyText(limited, limit)],
    ]);
  }
  all.push([500, "An internal error of the service.", [internalError().message]]);
  all.push([503, undefined, [databaseUnavailable().message, organizationMoves().message]]);
  if (method !== "GET") all.push([503, undefined, [writeConflict().message]]);
  return all;
}

const COSTLY: Record<CostlyRequest, { text: string; limit: number }> = {
  bulk_invites: { text: "bulk invites", limit: operator.BULK_INVITE_LIMIT_PER_MINUTE },
  redeliveries: { text: "redeliveries and pings", limit: operator.REDELIVERY_LIMIT_PER_MINUTE },
  access_logs: {
    text: "requests for whole days of the access log, or for lists of it as NDJSON",
    limit: operator.ACCESS_LOG_LIMIT_PER_MINUTE,
  },
};

const tooManyErrors = (api: Api) => [
  ...(api === "external"
    ? [
        tooManyText("client", operator.CLIENT_LIMIT_PER_MINUTE),
        tooManyText("organization", operator.ORGANIZATION_LIMIT_PER_MINUTE),
      ]
    : []),
  tooManyText("address", operator.FAILURE_LIMIT_PER_MINUTE),
];

/** What the service says of an empty body, or of parameters that are all wrong. */
function exampleFault(schema: z.ZodType, value?: string): string {
  const wrong =
    value === undefined || !(schema instanceof z.ZodObject)
      ? {}
      : Object.fromEntries(Object.keys(schema.shape).map((name) => [name, value]));
  const { error } = schema.safeParse(wrong);
  if (!error) throw new Error("A schema accepts what was to be an example of a fault");
  return explainIssues(error.issues);
}

function headersFor(api: Api, method: string, status: number, operation: Operation) {
  // A quota of the organization is known to the database.
  if (status === 429)
    return { ...(hasError(operation, 429) ? commonHeaders(api) : {}), ...tooManyHeaders(api) };
  if (status === 403) return unauthorizedHeaders;
  // Some operations also refuse what the caller passes on, such as a token of somebody else.
  if (status === 401 && !hasError(operation, 401)) return unauthorizedHeaders;
  // A body is looked at before the database is asked. A bookmark that a GET sends comes back, whatever its status.
  if (status === 413 || status === 408 || (status === 400 && method !== "GET")) return unreadHeaders(api);
  return status === 503 ? { ...commonHeaders(api), ...RETRY_AFTER } : commonHeaders(api);
}
