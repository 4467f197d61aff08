import type { Context as HonoContext } from "hono";
import { matchedRoutes } from "hono/route";
import * as z from "zod";
import { ApiError } from "./errors.ts";
import type { Input } from "./validation.ts";

/*
 * A query parameter that an operation does not have is refused: a filter that is ignored shows, or deletes, the wrong people's data.
 */

const MAX_SHOWN_LENGTH = 64;

/** @param known the parameters that the operation has */
export function unknownParameter(sent: string, known: readonly string[]): ApiError {
  const name = sent.replace(/[^\w.-]/g, "_").slice(0, MAX_SHOWN_LENGTH) || "_";
  const nearest = known.toSorted((a, b) => likeness(b, name) - likeness(a, name)).join(", ");
  const otherwise = nearest ? `not a parameter of this operation; use ${nearest}` : NO_PARAMETERS;
  return new ApiError(400, "unknown_parameter", `${name}: is ${otherwise}`);
}

const NO_PARAMETERS = "not a parameter of this operation, which has none";

/** The number of characters in which two names begin and end alike. */
function likeness(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  let begin = 0;
  while (begin < length && one[begin] === other[begin]) begin++;
  let end = 0;
  while (end < length - begin && one.at(-1 - end) === other.at(-1 - end)) end++;
  return begin + end;
}

/**
 * Every validator of a route calls this function, and so does each API for routes without one. The last validator checks, so that
 * the other faults of a request are found in their order.
 *
 * @throws ApiError 400
 */
export function requireKnownParameters(c: HonoContext, checking?: Input["target"]): void {
  if (!c.req.url.includes("?")) return;
  const inputs = matchedRoutes(c).flatMap(({ handler }) =>
    "input" in handler ? [handler.input as Input] : [],
  );
  if (inputs.findLast(({ target }) => target !== "header")?.target !== checking) return;
  const known = parametersOf(inputs);
  for (const name of new URL(c.req.url).searchParams.keys())
    if (!known.includes(name)) throw unknownParameter(name, known);
}

export function parametersOf(inputs: readonly Input[]): string[] {
  const schema = inputs.find(({ target }) => target === "query")?.schema();
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}
