import type { Context as HonoContext } from "hono";
import type { Context } from "../context.ts";
import { MAX_IF_MATCH_LENGTH } from "../limits.ts";
import { ApiError } from "./errors.ts";
import { declarationOf, declaring } from "./route_declarations.ts";

export const IF_MATCH = "If-Match";

const malformedIfMatch = () =>
  new ApiError(400, "invalid_if_match", `${IF_MATCH}: must be an ETag in quotes, a list of them, or *`);

/** Ignoring these headers would change a version that the caller has not read. */
export const NEVER_OBEYED = ["If-None-Match", "If-Unmodified-Since"];

export const notConditional = (name: string) =>
  new ApiError(
    400,
    "invalid_if_match",
    `${name}: is not obeyed here: omit it. Use ${IF_MATCH} for PUT and DELETE of a resource with an ETag`,
  );

const changedMeanwhile = () =>
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

export const conditional = declaring({ isConditional: true });

/** Proxies that compress a response change its ETag: they make it weak (Cloudflare), or append the encoding to the tag. */
const CHANGED_BY_PROXY = /^W\/|-+(gzip|br|zstd)(?="$)/g;

/** @throws ApiError 400 if a tag is malformed, or the route does not obey the header */
export function readIfMatch(c: HonoContext): string[] | undefined {
  // Caches send If-None-Match with a GET, and any response is a right answer to it.
  for (const name of c.req.method === "GET" ? [] : NEVER_OBEYED)
    if (c.req.header(name) !== undefined) throw notConditional(name);
  const sent = c.req.header(IF_MATCH);
  if (sent === undefined) return undefined;
  if (!declarationOf<true>(c, "isConditional")) throw notConditional(IF_MATCH);
  const tags = sent.split(",").map((tag) => tag.trim());
  const isValid =
    sent.length <= MAX_IF_MATCH_LENGTH && (sent.trim() === "*" || tags.every((tag) => ETAG.test(tag)));
  if (!isValid) throw malformedIfMatch();
  return tags.map((tag) => tag.replace(CHANGED_BY_PROXY, ""));
}

/** @throws ApiError 412 if the resource has another version, or does not exist */
export function requireVersion({ if_match }: Context, row: Versioned | undefined): void {
  if (!if_match) return;
  if (!row || !(if_match.includes("*") || if_match.includes(etagOf(row).ETag))) throw changedMeanwhile();
}

export const preconditionErrors = () => [malformedIfMatch(), changedMeanwhile()];
