import { createMiddleware } from "hono/factory";
import type { ClientContext, Context } from "../context.ts";
import { MAX_IF_MATCH_LENGTH } from "../limits.ts";
import { ApiError } from "./errors.ts";
import type { ApiEnv } from "./hono.ts";

export const IF_MATCH = "If-Match";

const malformedIfMatch = () =>
  new ApiError(400, "invalid_if_match", `${IF_MATCH}: must be an ETag in quotes, a list of them, or *`);

export const changedMeanwhile = () =>
  new ApiError(412, "changed_meanwhile", `${IF_MATCH}: does not name the current version; read it again`);

/** RFC 9110, section 8.8.3, but without commas in the quoted tag, so that a list can be split at commas. */
const ETAG = /^(W\/)?"[\x21\x23-\x2b\x2d-\x7e]*"$/;

/** The columns that distinguish versions of a row: `corrections` too, because two corrections can have the same `updated_at`. */
interface Versioned {
  id: number;
  updated_at: number;
  corrections?: number;
}

/** Lists of participants, counts, and the names of other things are not part of the version, because a PUT does not change them. */
export const etagOf = ({ id, updated_at, corrections = 0 }: Versioned) => ({
  ETag: `"${id}-${updated_at}-${corrections}"`,
});

/** For routes that change something: with `If-Match`, they change only the version that the caller has read. */
export const conditional = Object.assign(
  createMiddleware<ApiEnv<ClientContext>>(async (c, next) => {
    const sent = c.req.header(IF_MATCH);
    if (sent !== undefined) c.var.context.if_match = readIfMatch(sent);
    await next();
  }),
  { isConditional: true },
);

/** @throws ApiError 400 */
function readIfMatch(sent: string): string[] {
  const tags = sent.split(",").map((tag) => tag.trim());
  const isValid =
    sent.length <= MAX_IF_MATCH_LENGTH && (sent.trim() === "*" || tags.every((tag) => ETAG.test(tag)));
  if (!isValid) throw malformedIfMatch();
  return tags;
}

/** @throws ApiError 412 if the row has another version. A weak ETag never matches (RFC 9110, section 13.1.1). */
export function requireVersion({ if_match }: Context, row: Versioned): void {
  if (if_match && !if_match.includes("*") && !if_match.includes(etagOf(row).ETag)) throw changedMeanwhile();
}

export const preconditionErrors = () => [malformedIfMatch(), changedMeanwhile()];
