import { zValidator } from "@hono/zod-validator";
import type { Context as HonoContext, ValidationTargets } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import * as z from "zod";
import { MAX_JSON_CONTAINERS, MAX_NAMED_FAULTS } from "../limits.ts";
import { ApiError, unprocessable } from "./errors.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** In bytes. Each door sets its own. */
    bodyLimit: number;
  }
}

const TYPES: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

/** What is said of a fault where its schema says nothing of its own. */
z.config({
  customError: (issue) => {
    if (issue.input === undefined) return "is required";
    if (issue.code === "invalid_type") return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    if (issue.code === "invalid_value") return `must be one of ${issue.values.join(", ")}`;
    if (issue.code === "too_small")
      return `must be ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
    return issue.code === "too_big" ? `must be at most ${issue.maximum}` : undefined;
  },
});

export const IDEMPOTENCY_KEY = "Idempotency-Key";

/** The input that a route accepts. It is attached to the middleware, where src/openapi/document.ts finds it. */
export interface Input {
  target: "query" | "param" | "json" | "header";
  schema: z.ZodType;
  /** In bytes, where the body has a limit of its own. */
  limit?: number | undefined;
}

/** Refuses a query that does not match the schema with 400. */
export const query = <Schema extends z.ZodType>(schema: Schema) =>
  Object.assign(validate("query", schema, 400), { input: { target: "query", schema } satisfies Input });

/** Refuses a path parameter that does not match the schema with 404: such a thing cannot exist. */
export const params = <Schema extends z.ZodType>(schema: Schema) =>
  Object.assign(
    zValidator(
      "param",
      schema,
      (result) => {
        if (!result.success) throw new ApiError(404, "Not found");
      },
      synchronous,
    ),
    { input: { target: "param", schema } satisfies Input },
  );

/**
 * Refuses a body that is too large (413), is not declared as JSON (415), is not JSON (400) or does not match the
 * schema (422), in this order.
 *
 * @param limit in bytes; by default the limit of the door
 */
export function jsonBody<Schema extends z.ZodType>(schema: Schema, limit?: number) {
  const validateBody = validate("json", schema, 422);
  const guarded: typeof validateBody = async (c, next) => {
    await limitBody(limit ?? c.var.bodyLimit)(c, async () => requireFewContainers(await textOfJson(c)));
    return validateBody(c, next);
  };
  return Object.assign(guarded, { input: { target: "json", schema, limit } satisfies Input });
}

export const notJson = () => new ApiError(400, "Request body is not valid JSON");

/** No schema of ours waits for anything, and asynchronous validation takes longer. */
const synchronous = {
  // The validator wants an error typed by the schema, which no function for all schemas can have.
  validationFunction: (schema: z.ZodType, value: unknown) => schema.safeParse(value) as never,
};

function validate<Target extends keyof ValidationTargets, Schema extends z.ZodType>(
  target: Target,
  schema: Schema,
  status: ContentfulStatusCode,
) {
  return zValidator(
    target,
    schema,
    (result) => {
      if (!result.success) throw new ApiError(status, explain(result.error.issues));
    },
    synchronous,
  );
}

/** The text of a refusal, with the first faults: each has the path of its field. */
export function explain(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  const named = issues.slice(0, MAX_NAMED_FAULTS);
  const more = issues.length > named.length ? [`and ${issues.length - named.length} more`] : [];
  return [...named.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`), ...more].join("; ");
}

/** Refuses a body with more bytes with 413. */
export function limitBody(maxSize: number) {
  return bodyLimit({
    maxSize,
    onError: () => {
      throw new ApiError(413, `Request body is larger than ${maxSize} bytes`);
    },
  });
}

/** The text of a body that is declared as JSON. */
export async function textOfJson(c: HonoContext): Promise<string> {
  const mediaType = c.req.header("Content-Type")?.split(";")[0]?.trim() ?? "";
  if (/^application\/([\w.-]+\+)?json$/i.test(mediaType)) {
    // Its digest is that of the bytes, which a text does not have any more: see idempotency_key.ts.
    if (c.req.header(IDEMPOTENCY_KEY) !== undefined) await c.req.arrayBuffer();
    return c.req.text();
  }
  if ((await c.req.arrayBuffer()).byteLength === 0) throw notJson();
  throw new ApiError(415, "Content-Type must be application/json");
}

/**
 * JSON takes far more memory than its text where it has very many objects and arrays, so they are counted before it is
 * parsed.
 */
function requireFewContainers(json: string) {
  if (json.length <= MAX_JSON_CONTAINERS) return;
  // Brackets in texts do not count. Few bodies have so many that it matters, and this is fast.
  if (occurrences(json, "{") + occurrences(json, "[") <= MAX_JSON_CONTAINERS) return;
  let containers = 0;
  let isInText = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') isInText = !isInText;
    else if (character === "\\") at++;
    else if (!isInText && (character === "{" || character === "[")) containers++;
  }
  if (containers > MAX_JSON_CONTAINERS)
    throw unprocessable(`body: must hold at most ${MAX_JSON_CONTAINERS} objects and lists`);
}

function occurrences(text: string, character: string): number {
  let found = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) found++;
  return found;
}
