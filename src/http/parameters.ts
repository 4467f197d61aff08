import type { Context as HonoContext } from "hono";
import { matchedRoutes } from "hono/route";
import * as z from "zod";
import { ApiError } from "./errors.ts";
import { nearest } from "./nearest.ts";
import type { Input } from "./validation.ts";

/* An unknown query parameter is refused: an ignored filter shows, or deletes, the wrong people's data. */

export function unknownParameter(sent: string, known: readonly string[]): ApiError {
  const name = sent.replace(/[^\w.-]/g, "_").slice(0, 64) || "_";
  const advice = known.length > 0 ? `; use ${nearest(name, known).join(", ")}` : ", which has none";
  return new ApiError(400, "unknown_parameter", `${name}: is not a parameter of this operation${advice}`);
}

/**
 * Called by every validator of a route, and by each API. The last one checks, so that other faults come first.
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
