import { zValidator } from "@hono/zod-validator";
import type { Env, Context as HonoContext, MiddlewareHandler } from "hono";
import * as z from "zod";
import { jsonOrUndefined } from "../bytes/json.ts";
import { MAX_JSON_CONTAINERS, MAX_NAMED_FAULTS } from "../limits.ts";
import { lazily } from "../memory.ts";
import { grouped } from "../units.ts";
import { readBody } from "./body.ts";
import { type ApiError, invalidBody, invalidQuery, noSuchPath, notJson } from "./errors.ts";
import { nullsDropper } from "./null_fields.ts";
import { requireKnownParameters } from "./parameters.ts";
import { unchangeable } from "./unchangeable.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** In bytes. Each API sets its own. */
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

z.config({
  customError: (issue) => {
    if (issue.input === undefined) return "is required";
    if (issue.code === "invalid_type") return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    if (issue.code === "invalid_value") return `must be one of ${issue.values.join(", ")}`;
    if (issue.code === "too_small")
      return `must be ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
    return issue.code === "too_big" ? `must be at most ${grouped(Number(issue.maximum))}` : undefined;
  },
});

export const IDEMPOTENCY_KEY = "Idempotency-Key";

/** Attached to a route's middleware for src/reference/document.ts. */
export interface Input {
  target: "query" | "param" | "json" | "header";
  schema: () => z.ZodType;
  limit?: number | undefined;
  isOptional?: boolean;
}

/** Refuses an invalid query with 400. An empty parameter counts as missing, except a filter by person. */
export const query = <Schema extends z.ZodType>(schema: () => Schema) =>
  validating("query", schema, (issues) => invalidQuery(explainIssues(issues)));

/** Refuses an invalid path parameter with 404, because nothing can exist at such a path. */
export const params = <Schema extends z.ZodType>(schema: () => Schema) =>
  validating("param", schema, noSuchPath);

function validating<Schema extends z.ZodType, Target extends "query" | "param">(
  target: Target,
  make: () => Schema,
  refusalOf: (issues: readonly z.core.$ZodIssue[]) => ApiError,
) {
  const schema = lazily(make);
  const validator = lazily(() =>
    zValidator(
      target,
      schema(),
      (result) => {
        if (!result.success) throw refusalOf(result.error.issues);
      },
      {
        // None of our schemas is asynchronous, and asynchronous validation is slower. The validator wants an error
        // typed by the schema, which a function for all schemas cannot have.
        validationFunction: (_, value) =>
          schema().safeParse(target === "query" ? withoutEmpty(value as Parameters) : value) as never,
      },
    ),
  );
  const validate: MiddlewareHandler<Env, string, { out: { [Of in Target]: z.output<Schema> } }> = async (
    c,
    next,
  ) => {
    // A wrong name first: it is often the reason why another parameter is missing. A malformed path comes before both.
    if (target === "query") requireKnownParameters(c, target);
    await validator()(c as never, async () => {
      if (target === "param") requireKnownParameters(c, target);
      await next();
    });
  };
  return Object.assign(validate, { input: { target, schema } satisfies Input });
}

type Parameters = Record<string, string | string[]>;

/** Without a value, these filters would select everybody: the caller's variable was probably not set. */
const FILTER_BY_PERSON = /^(acting_user|email|(external|participant)_reference|(organization_)?user_id)$/;

/** @throws ApiError 400 */
function withoutEmpty(parameters: Parameters): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(parameters)) {
    const [only, ...more] = [value].flat().filter((each) => each !== "");
    if (more.length > 0) throw invalidQuery(`${name}: is given twice: give it once`);
    if (FILTER_BY_PERSON.test(name) && [value].flat().includes(""))
      throw invalidQuery(`${name}: must not be empty`);
    if (only !== undefined) given[name] = only;
  }
  return given;
}

/**
 * Refuses a body that is too large (413), is not JSON (400) or does not match the schema (422). Any `Content-Type` is accepted:
 * curl sends that of a form.
 *
 * @param limit in bytes; by default the limit of the API
 * @param isOptional whether no body counts as an empty object
 */
export function jsonBody<Schema extends z.ZodType>(
  make: () => Schema,
  { limit, isOptional = false }: { limit?: number; isOptional?: boolean } = {},
) {
  const schema = lazily(make);
  const dropNulls = lazily(() => nullsDropper(schema()));
  const validateBody: MiddlewareHandler<Env, string, { out: { json: z.output<Schema> } }> = async (
    c,
    next,
  ) => {
    c.req.addValidatedData("json", await readJson(c));
    await next();
  };
  /** A separate function, so that nothing holds the text while the request is handled. */
  async function readJson(c: HonoContext): Promise<object> {
    const text = utf8Of(await readBody(c, limit ?? c.var.bodyLimit));
    const json = isOptional && text === "" ? "{}" : text;
    requireFewContainers(json);
    const body = parseJson(json);
    requireKnownParameters(c, "json");
    dropNulls()(body);
    if (unchangeable.has(schema()))
      Object.assign(c.get("context" as never), { sent: { body, schema: schema() } });
    const { data, error } = schema().safeParse(body);
    if (error) throw invalidBody(explainIssues(error.issues));
    return data as object;
  }
  return Object.assign(validateBody, {
    input: { target: "json", schema, limit, isOptional } satisfies Input,
  });
}

export function explainIssues(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  const firstIssues = issues.slice(0, MAX_NAMED_FAULTS);
  const more = issues.length > firstIssues.length ? [`and ${issues.length - firstIssues.length} more`] : [];
  return [...firstIssues.map(({ path, message }) => `${path.join(".") || "body"}: ${message}`), ...more].join(
    "; ",
  );
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/**
 * Refuses what is not UTF-8 (RFC 8259, section 8.1): decoding would store `�` instead.
 *
 * @throws ApiError 400
 */
export function utf8Of(body: Uint8Array): string {
  try {
    return decoder.decode(body);
  } catch {
    throw notJson();
  }
}

/** @throws ApiError 400 */
export function parseJson(json: string): unknown {
  const parsed = jsonOrUndefined(json);
  if (parsed === undefined) throw notJson();
  return parsed;
}

/** Many small objects and arrays take far more memory than their text, so they are counted before parsing. */
function requireFewContainers(json: string) {
  if (json.length <= MAX_JSON_CONTAINERS) return;
  // A fast check that counts brackets in strings too. Few bodies have so many that the exact count is needed.
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
    throw invalidBody(`body: must hold at most ${grouped(MAX_JSON_CONTAINERS)} objects and lists`);
}

function occurrences(text: string, character: string): number {
  let found = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) found++;
  return found;
}
