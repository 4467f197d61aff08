import * as z from "zod";
import { KEY_WAS_USED } from "../database/creations.ts";
import { BAD_KEY } from "../http/idempotency_key.ts";
import { tooManyText } from "../http/rate_limits.ts";
import { explain, type Input } from "../http/validation.ts";
import { ONE_LINE } from "../http/wire.ts";
import {
  EXTERNAL_BODY_LIMIT,
  LIVEKIT_BODY_LIMIT,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  PLATFORM_BODY_LIMIT,
} from "../limits.ts";
import { DOORS, type Door } from "./doors.ts";
import { errorExamples } from "./examples.ts";
import {
  commonHeaders,
  headersOf,
  RETRY_AFTER,
  tooManyHeaders,
  unauthorizedHeaders,
  unreadHeaders,
} from "./headers.ts";
import type { Operation, RefusalStatus } from "./operation.ts";
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

const BODY_LIMITS: Record<Door, number> = {
  external: EXTERNAL_BODY_LIMIT,
  platform: PLATFORM_BODY_LIMIT,
  livekit: LIVEKIT_BODY_LIMIT,
};

/** The refusals that are common to such requests, and the operation's own. Each error has its text as an example. */
export function refusalsOf(door: Door, method: string, inputs: Input[], operation: Operation) {
  const statuses = new Map<number, { reasons: string[]; errors: string[] }>();
  const add = (status: number, reason: string | undefined, errors: readonly string[]) => {
    const known = statuses.get(status) ?? { reasons: [], errors: [] };
    statuses.set(status, {
      reasons: [...known.reasons, ...(reason ? [reason] : [])],
      errors: [...new Set([...known.errors, ...errors])],
    });
  };
  for (const [status, reason, errors] of commonRefusals(door, inputs, operation)) add(status, reason, errors);
  const own = new Set([...Object.keys(operation.refusals ?? {}), ...Object.keys(operation.errors ?? {})]);
  for (const status of [...own].map(Number) as RefusalStatus[])
    add(status, operation.refusals?.[status], operation.errors?.[status] ?? []);
  return Object.fromEntries(
    [...statuses].map(([status, { reasons, errors }]) => [
      status,
      {
        description: reasons.join(" ") || defaultReasons(door)[status] || "",
        headers: headersOf(door, headersFor(door, method, status, operation)),
        content: { "application/json": { schema: errorSchema, ...errorExamples(errors) } },
      },
    ]),
  );
}

const defaultReasons = (door: Door): Record<number, string> => ({
  400: "The request is not valid.",
  404:
    door === "external"
      ? "Something in the path does not exist, or is out of the caller's reach."
      : "Something in the path does not exist.",
  409: "The request was carried out before.",
  422: "The state of something does not allow the request.",
  503: "It cannot be done now. `Retry-After` says when to try again.",
});

type Common = [status: number, reason: string | undefined, errors: readonly string[]];

function commonRefusals(door: Door, inputs: Input[], { body, errors }: Operation): Common[] {
  const of = (target: Input["target"]) => inputs.find((input) => input.target === target);
  const [query, param, json, key] = [of("query"), of("param"), of("json"), of("header")];
  const all: Common[] = [];
  if (json || body) all.push([400, "The body is not JSON.", ["Request body is not valid JSON"]]);
  if (query) all.push([400, "A query parameter is not valid.", [faultOf(query.schema, "?")]]);
  if (key)
    all.push([
      400,
      `The \`Idempotency-Key\` does not have 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters.`,
      [BAD_KEY],
    ]);
  all.push([401, DOORS[door].unauthorized, [DOORS[door].unauthorizedError]]);
  if (param) all.push([404, undefined, ["Not found"]]);
  if (json || body) {
    const limit = json?.limit ?? BODY_LIMITS[door];
    all.push([413, "The body is too large.", [`Request body is larger than ${limit} bytes`]]);
    all.push([415, "The `Content-Type` is not JSON.", ["Content-Type must be application/json"]]);
  }
  if (json) {
    const reason = errors?.[422]
      ? "The body is not valid, or what it asks for cannot be done."
      : "The body does not match its schema.";
    all.push([422, reason, [faultOf(json.schema)]]);
  }
  if (key) all.push([422, "The `Idempotency-Key` was used for another request.", [KEY_WAS_USED]]);
  all.push([429, DOORS[door].tooMany, tooManyErrors(door)]);
  all.push([500, "An internal error of the service.", ["Internal server error"]]);
  return all;
}

const tooManyErrors = (door: Door) => [
  ...(door === "external" ? [tooManyText("client", operator.CLIENT_LIMIT_PER_MINUTE)] : []),
  tooManyText("address", operator.FAILURE_LIMIT_PER_MINUTE),
];

/** What the service says of an empty body, or of parameters that are all wrong. */
function faultOf(schema: z.ZodType, value?: string): string {
  const wrong =
    value === undefined || !(schema instanceof z.ZodObject)
      ? {}
      : Object.fromEntries(Object.keys(schema.shape).map((name) => [name, value]));
  const { error } = schema.safeParse(wrong);
  if (!error) throw new Error("A schema accepts what was to be an example of a fault");
  return explain(error.issues);
}

function headersFor(door: Door, method: string, status: number, { errors }: Operation) {
  if (status === 429) return tooManyHeaders(door);
  // Some operations also refuse what the caller passes on, such as a token of somebody else.
  if (status === 401 && !errors?.[401]) return unauthorizedHeaders;
  // A body is looked at before the database is asked. A bookmark that a GET sends comes back, whatever its status.
  if (status === 413 || status === 415 || (status === 400 && method !== "GET")) return unreadHeaders(door);
  return status === 503 ? { ...commonHeaders(door), ...RETRY_AFTER } : commonHeaders(door);
}
