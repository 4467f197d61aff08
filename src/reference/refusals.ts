import * as z from "zod";
import { badActingHeaders, nobodyActs } from "../http/acting_user.ts";
import type { CostlyRequest } from "../http/costly_requests.ts";
import { FROM_AFTER_TO } from "../http/dates.ts";
import * as common from "../http/errors.ts";
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
import { EXTERNAL_BODY_LIMIT, LIVEKIT_BODY_LIMIT, PLATFORM_BODY_LIMIT } from "../limits.ts";
import type { Operation } from "../openapi/operation.ts";
import { named } from "../openapi/schemas.ts";
import { keyWasUsed } from "../organization/idempotency_keys/idempotency_keys.refusals.ts";
import { organizationSuspended } from "../organization/organizations/organizations.refusals.ts";
import * as usage from "../organization/usage/usage.refusals.ts";
import { APIS, type Api } from "./apis.ts";
import { errorExamples } from "./examples.ts";
import { commonHeaders, errorCode, headersOf, RETRY_AFTER, tooManyHeaders } from "./headers.ts";
import { operator } from "./operator.ts";
import type { Route } from "./routes.ts";

const errorSchema = named("ErrorResponse", "Why the request was refused.", {
  error: z
    .string()
    .max(10_000)
    .regex(new RegExp(ONE_LINE))
    .describe(
      "What is wrong and how to correct it, for people. The texts may change: programs must use the header `Error-Code`.",
    ),
});

const BODY_LIMITS: Record<Api, number> = {
  external: EXTERNAL_BODY_LIMIT,
  platform: PLATFORM_BODY_LIMIT,
  livekit: LIVEKIT_BODY_LIMIT,
};

/** The operation's own errors and those that all such requests share. Each is an example with its code and text. */
export function refusalsOf(api: Api, method: string, route: Route, operation: Operation) {
  const errors = [...commonErrors(api, method, route, operation), ...(operation.errors ?? [])];
  const byStatus = [...Map.groupBy(errors, ({ status }) => status)].map(([status, its]) => {
    const reason = operation.refusals?.[status as keyof typeof operation.refusals];
    return [
      status,
      {
        description: reason ?? reasonsOf(api)[status] ?? "",
        headers: headersOf(api, {
          ...commonHeaders(api),
          ...(status === 429 ? tooManyHeaders(api) : status === 503 ? RETRY_AFTER : {}),
          ...errorCode(its.map(({ code }) => code)),
        }),
        content: { "application/json": { schema: errorSchema, ...errorExamples(its) } },
      },
    ] as const;
  });
  return Object.fromEntries(byStatus);
}

export const hasError = ({ errors = [] }: Operation, status: number) =>
  errors.some((error) => error.status === status);

export const reasonsOf = (api: Api): Record<number, string> => ({
  400: "The request is malformed, or has a header or a parameter that the operation does not take.",
  401: APIS[api].unauthorized,
  403: APIS[api].forbidden,
  404: "A resource in the path does not exist, or the caller cannot access it. Results of a call may arrive later.",
  406: "The service cannot respond in the media type of `Accept`.",
  408: "The body did not arrive in time.",
  409: "The request was carried out before.",
  412: "The resource has changed since the version that `If-Match` names. Nothing was changed.",
  413: "The body is too large.",
  415: "The body has a `Content-Encoding`.",
  422: "The body is not valid, the state of a resource does not allow the change, or the `Idempotency-Key` was used for another request.",
  429: `${APIS[api].tooMany} \`Retry-After\` says when to try again.`,
  500: "An internal error of the service. Try again a few times, with growing pauses. If it persists, report the `X-Request-Id`.",
  503: "The request cannot be carried out now. `Retry-After` says when to try again.",
});

/** The errors that an operation shares with others, because they come from the middleware in front of it. */
function commonErrors(
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
  { body }: Operation,
): common.ApiError[] {
  const of = (target: Input["target"]) => inputs.find((input) => input.target === target);
  const [query, param, json, key] = [of("query")?.schema(), of("param"), of("json"), of("header")];
  const hasBody = json !== undefined || body !== undefined;
  const isExternal = api === "external";
  const notObeyed = [...(isConditional ? [] : [IF_MATCH]), ...(method === "GET" ? [] : NEVER_OBEYED)];
  const isWrite = method !== "GET";
  const when = (condition: unknown, ...errors: common.ApiError[]) => (condition ? errors : []);
  return [
    ...when(hasBody, common.notJson()),
    ...(query ? [exampleFault(query)].map(common.invalidQuery) : []),
    ...when("from" in shapeOf(query), common.invalidQuery(`from: ${FROM_AFTER_TO}`)),
    ...when(key, badKey()),
    ...when(isExternal, ...badActingHeaders()),
    ...when(isConditional, ...preconditionErrors()),
    ...when(api !== "livekit", ...notObeyed.map(notConditional)),
    ...when(api !== "livekit", unknownParameter("unknown", parametersOf(inputs))),
    ...when(isRecorded, nobodyActs()),
    APIS[api].unauthorizedError,
    httpsRequired(),
    ...when(isExternal, organizationSuspended()),
    ...(scope ? [missingScope(scope)] : []),
    ...when(roles.length > 0, missingRole(...roles)),
    ...when(api === "platform" && tokens.length < PART_TOKENS.length, missingToken(tokens)),
    ...when(param, common.noSuchPath()),
    ...when(
      hasBody,
      common.unsupportedEncoding(),
      common.bodyTooSlow(),
      common.bodyTooLarge(json?.limit ?? BODY_LIMITS[api]),
    ),
    ...(json ? [common.invalidBody(exampleFault(json.schema())), ...unchangeableErrors(json.schema())] : []),
    ...when(key, keyWasUsed()),
    ...tooManyErrors(api),
    ...when(isExternal && reserve === "others", usage.tooManyReserved()),
    ...when(isExternal && reserve === "sign_ins", usage.tooManySignIns()),
    ...when(isExternal && !reserve && isWrite, usage.tooManyWritesOfClient(), usage.tooManyWrites()),
    ...when(isExternal && !reserve && isRecorded, usage.tooManyEntriesOfClient(), usage.tooManyEntries()),
    ...(limited ? [tooMany(limited, COSTLY[limited].limit)] : []),
    common.internalError(),
    common.databaseUnavailable(),
    common.organizationMoves(),
    ...when(hasBody, common.tooManyBodies()),
    ...when(isWrite, common.writeConflict()),
  ];
}

export const COSTLY: Record<CostlyRequest, { text: string; limit: number }> = {
  bulk_invites: { text: "bulk invites", limit: operator.BULK_INVITE_LIMIT_PER_MINUTE },
  redeliveries: { text: "redeliveries and pings", limit: operator.REDELIVERY_LIMIT_PER_MINUTE },
  access_logs: {
    text: "requests for exports, whole days or NDJSON lists of the access log",
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

const shapeOf = (schema?: z.ZodType): object => (schema instanceof z.ZodObject ? schema.shape : {});

/** The service's error text for no input, or, if the schema accepts that, for fields that are all wrong. */
function exampleFault(schema: z.ZodType): string {
  const wrong = Object.fromEntries(Object.keys(shapeOf(schema)).map((name) => [name, "?"]));
  const error = schema.safeParse({}).error ?? schema.safeParse(wrong).error;
  if (!error) throw new Error("A schema accepts an input that should be an example of an error");
  return explainIssues(error.issues);
}
