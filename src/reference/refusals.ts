import * as z from "zod";
import { badActingHeaders, nobodyActs } from "../http/acting_user.ts";
import type { CostlyRequest } from "../http/costly_requests.ts";
import { FROM_AFTER_TO } from "../http/dates.ts";
import {
  type ApiError,
  bodyTooLarge,
  bodyTooSlow,
  databaseUnavailable,
  internalError,
  invalidBody,
  invalidQuery,
  noSuchPath,
  notJson,
  organizationMoves,
  tooManyBodies,
  unsupportedEncoding,
  writeConflict,
} from "../http/errors.ts";
import { httpsRequired } from "../http/https.ts";
import { badKey } from "../http/idempotency_key.ts";
import { parametersOf, unknownParameter } from "../http/parameters.ts";
import { missingToken, PART_TOKENS } from "../http/platform_tokens.ts";
import { IF_MATCH, NEVER_OBEYED, notConditional, preconditionErrors } from "../http/preconditions.ts";
import { tooMany } from "../http/rate_limits.ts";
import { missingRole } from "../http/roles.ts";
import { missingScope } from "../http/scopes.ts";
import { unchangeableErrors } from "../http/unchangeable.ts";
import { explainIssues, type Input } from "../http/validation.ts";
import { ONE_LINE } from "../http/wire.ts";
import {
  EXTERNAL_BODY_LIMIT,
  LIVEKIT_BODY_LIMIT,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  PLATFORM_BODY_LIMIT,
} from "../limits.ts";
import type { Operation } from "../openapi/operation.ts";
import { keyWasUsed } from "../organization/idempotency_keys/idempotency_keys.refusals.ts";
import { organizationSuspended } from "../organization/organizations/organizations.refusals.ts";
import {
  tooManyEntries,
  tooManyEntriesOfClient,
  tooManyReserved,
  tooManySignIns,
  tooManyWrites,
  tooManyWritesOfClient,
} from "../organization/usage/usage.refusals.ts";
import { APIS, type Api } from "./apis.ts";
import { errorExamples } from "./examples.ts";
import {
  commonHeaders,
  errorCode,
  headersOf,
  RETRY_AFTER,
  tooManyHeaders,
  unauthorizedHeaders,
  unreadHeaders,
} from "./headers.ts";
import { operator } from "./operator.ts";
import type { Route } from "./routes.ts";

const errorSchema = z
  .object({
    error: z
      .string()
      .max(10_000)
      .regex(new RegExp(ONE_LINE))
      .describe(
        "What is wrong and how to correct it, for people. The texts may change: programs must use the header `Error-Code`.",
      ),
  })
  .meta({ id: "ErrorResponse", description: "Why the request was refused." });

const BODY_LIMITS: Record<Api, number> = {
  external: EXTERNAL_BODY_LIMIT,
  platform: PLATFORM_BODY_LIMIT,
  livekit: LIVEKIT_BODY_LIMIT,
};

type Refusal = [status: number, reason: string | undefined, errors: readonly ApiError[]];

/** The operation's own errors and those that all such requests share. Each is an example with its code and text. */
export function refusalsOf(api: Api, method: string, route: Route, operation: Operation) {
  const { refusals = {}, errors = [] } = operation;
  const all: Refusal[] = [
    ...commonRefusals(api, method, route, operation),
    ...Object.entries(refusals).map(([status, reason]): Refusal => [Number(status), reason, []]),
    ...errors.map((error): Refusal => [error.status, undefined, [error]]),
  ];
  const byStatus = [...Map.groupBy(all, ([status]) => status)].map(([status, its]) => {
    const reasons = its.flatMap(([, reason]) => reason ?? []);
    const errors = its.flatMap(([, , errors]) => errors);
    return [
      status,
      {
        description: reasons.join(" ") || defaultReasons(api)[status] || "",
        headers: headersOf(api, {
          ...headersFor(api, method, status, operation, route),
          ...errorCode(errors.map(({ code }) => code)),
        }),
        content: { "application/json": { schema: errorSchema, ...errorExamples(errors) } },
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
      ? "A resource in the path does not exist, or the caller cannot access it."
      : "A resource in the path does not exist.",
  409: "The request was carried out before.",
  422: "The state of a resource does not allow the request.",
  503: "The request cannot be carried out now. `Retry-After` says when to try again.",
});

function commonRefusals(
  api: Api,
  method: string,
  {
    inputs,
    scope,
    roles = [],
    tokens = [],
    limited,
    isRecorded,
    isConditional,
    reserve = method === "DELETE" ? "others" : undefined,
  }: Route,
  operation: Operation,
): Refusal[] {
  const { body } = operation;
  const of = (target: Input["target"]) => inputs.find((input) => input.target === target);
  const [query, param, json, key] = [of("query"), of("param"), of("json"), of("header")];
  const all: Refusal[] = [];
  if (json || body) all.push([400, "The body is not JSON.", [notJson()]]);
  if (query) {
    const schema = query.schema();
    const faults = [exampleFault(schema), ...("from" in shapeOf(schema) ? [`from: ${FROM_AFTER_TO}`] : [])];
    all.push([400, "A query parameter is not valid.", faults.map(invalidQuery)]);
  }
  if (key)
    all.push([
      400,
      `The \`Idempotency-Key\` does not have 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters.`,
      [badKey()],
    ]);
  if (api === "external")
    all.push([400, "`X-Acting-User` or `X-Purpose-Of-Use` is not valid.", badActingHeaders()]);
  if (isConditional)
    for (const error of preconditionErrors()) all.push([error.status, PRECONDITIONS[error.status], [error]]);
  const notObeyed = [...(isConditional ? [] : [IF_MATCH]), ...(method === "GET" ? [] : NEVER_OBEYED)];
  if (api !== "livekit" && notObeyed.length > 0)
    all.push([400, `\`${notObeyed.join("` or `")}\` was sent.`, notObeyed.map(notConditional)]);
  if (api !== "livekit")
    all.push([
      400,
      "The query has a parameter that the operation does not have.",
      [unknownParameter("unknown", parametersOf(inputs))],
    ]);
  if (isRecorded)
    all.push([400, "The organization requires each read to name a person and a purpose.", [nobodyActs()]]);
  all.push([401, APIS[api].unauthorized, [APIS[api].unauthorizedError]]);
  all.push([403, "The request used plain HTTP.", [httpsRequired()]]);
  if (api === "external") all.push([403, "The organization is suspended.", [organizationSuspended()]]);
  if (scope) all.push([403, `The API client does not have the scope \`${scope}\`.`, [missingScope(scope)]]);
  if (roles.length > 0)
    all.push([403, `The API client does not act as ${roles.join(" or ")}.`, [missingRole(...roles)]]);
  if (api === "platform" && tokens.length < PART_TOKENS.length)
    all.push([403, "The platform token is not valid for this route.", [missingToken(tokens)]]);
  if (param) all.push([404, undefined, [noSuchPath()]]);
  if (json || body) {
    const limit = json?.limit ?? BODY_LIMITS[api];
    all.push([415, "The body has a `Content-Encoding`.", [unsupportedEncoding()]]);
    all.push([408, "The body did not arrive in time.", [bodyTooSlow()]]);
    all.push([413, "The body is too large.", [bodyTooLarge(limit)]]);
  }
  if (json) {
    const reason = hasError(operation, 422)
      ? "The body is not valid, or the change that it requests is not possible."
      : "The body does not match its schema.";
    all.push([422, reason, [invalidBody(exampleFault(json.schema())), ...unchangeableErrors(json.schema())]]);
  }
  if (key) all.push([422, "The `Idempotency-Key` was used for another request.", [keyWasUsed()]]);
  all.push([429, APIS[api].tooMany, tooManyErrors(api)]);
  if (api === "external" && reserve === "others") all.push([429, undefined, [tooManyReserved()]]);
  if (api === "external" && reserve === "sign_ins") all.push([429, undefined, [tooManySignIns()]]);
  if (api === "external" && !reserve) {
    if (method !== "GET") all.push([429, undefined, [tooManyWritesOfClient(), tooManyWrites()]]);
    if (isRecorded) all.push([429, undefined, [tooManyEntriesOfClient(), tooManyEntries()]]);
  }
  if (limited) {
    const { text, limit } = COSTLY[limited];
    all.push([
      429,
      `The API clients of an organization can send ${limit} ${text} a minute.`,
      [tooMany(limited, limit)],
    ]);
  }
  all.push([500, "An internal error of the service.", [internalError()]]);
  all.push([503, undefined, [databaseUnavailable(), organizationMoves()]]);
  if (json || body) all.push([503, undefined, [tooManyBodies()]]);
  if (method !== "GET") all.push([503, undefined, [writeConflict()]]);
  return all;
}

const PRECONDITIONS: Record<number, string> = {
  400: "`If-Match` is not valid.",
  412: "`If-Match` does not name the current version: the resource has changed since. Nothing was changed.",
};

const COSTLY: Record<CostlyRequest, { text: string; limit: number }> = {
  bulk_invites: { text: "bulk invites", limit: operator.BULK_INVITE_LIMIT_PER_MINUTE },
  redeliveries: { text: "redeliveries and pings", limit: operator.REDELIVERY_LIMIT_PER_MINUTE },
  access_logs: {
    text: "requests for whole days of the access log or for NDJSON lists of it",
    limit: operator.ACCESS_LOG_LIMIT_PER_MINUTE,
  },
};

const tooManyErrors = (api: Api) => [
  ...(api === "external"
    ? [
        tooMany("client", operator.CLIENT_LIMIT_PER_MINUTE),
        tooMany("organization", operator.ORGANIZATION_LIMIT_PER_MINUTE),
      ]
    : []),
  tooMany("address", operator.FAILURE_LIMIT_PER_MINUTE),
];

const shapeOf = (schema: z.ZodType): object => (schema instanceof z.ZodObject ? schema.shape : {});

/** The service's error text for no input, or, if the schema accepts that, for fields that are all wrong. */
function exampleFault(schema: z.ZodType): string {
  const wrong = Object.fromEntries(Object.keys(shapeOf(schema)).map((name) => [name, "?"]));
  const error = schema.safeParse({}).error ?? schema.safeParse(wrong).error;
  if (!error) throw new Error("A schema accepts an input that should be an example of an error");
  return explainIssues(error.issues);
}

function headersFor(
  api: Api,
  method: string,
  status: number,
  operation: Operation,
  { roles = [], isRecorded }: Route,
) {
  // A quota of the organization is checked in the database, so the response has a bookmark.
  const hasQuota = api === "external" && (method !== "GET" || isRecorded);
  if (status === 429)
    return { ...(hasQuota || hasError(operation, 429) ? commonHeaders(api) : {}), ...tooManyHeaders(api) };
  // A missing scope is found after the client's rate limits, but before the database is used. A missing role can be found there too.
  if (status === 403 && roles.length === 0 && !hasError(operation, 403)) return unreadHeaders(api);
  // Some operations also return 401 for a value in the request, such as another person's token.
  if (status === 401 && !hasError(operation, 401)) return unauthorizedHeaders;
  // A body is checked before the database is used. A bookmark that a GET sends is returned with any status.
  if (status === 413 || status === 415 || status === 408 || (status === 400 && method !== "GET"))
    return unreadHeaders(api);
  return status === 503 ? { ...commonHeaders(api), ...RETRY_AFTER } : commonHeaders(api);
}
