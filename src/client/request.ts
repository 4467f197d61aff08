import type { ErrorCodes } from "../../dist/client/external/operations.gen.js";
import { headerValue } from "./settings.ts";

export const JSON_TYPE = "application/json";

export const NDJSON_TYPE = "application/x-ndjson";

/** The largest page that the service returns. */
export const FULL_PAGE = 100;

export interface Route {
  /** The name of the client's function. The check of the access log uses routes without one. */
  readonly operation?: keyof ErrorCodes;
  /** Method and path, with the names of parameters in braces. */
  readonly route: string;
  readonly query?: readonly string[];
  /** The keys of the body, each with the names of its fields. The rest of the input is sent as the body. */
  readonly body?: Readonly<Record<string, readonly string[]>>;
  readonly honoursKey?: boolean;
  /** The media types of a successful response. By default only JSON; empty if the response has no content. */
  readonly answers?: readonly string[];
}

export interface RequestOptions {
  /**
   * Ends the request at once, even between two attempts. The error has `failed: "aborted"`, and the signal's reason as its
   * cause.
   */
  signal?: AbortSignal | undefined;
  /** The timeout of each attempt, in milliseconds. By default the client's `timeout`. */
  timeout?: number | undefined;
  /** The maximum number of retries of a failed request. By default the client's `maxRetries`. */
  maxRetries?: number | undefined;
  /** The `X-D1-Bookmark` of another response. The service then reads data that is at least as new as that response. */
  bookmark?: string | undefined;
  /** For a PUT: the `ETag` of the version you read. If there is a newer version, the error has the code `changed_meanwhile`. */
  ifMatch?: string | undefined;
  /**
   * Called once with the final response, if you need its status or headers. A DELETE that succeeds may report 404: an earlier
   * attempt has probably deleted the resource.
   */
  onResponse?: ((response: { status: number; headers: Headers }) => void) | undefined;
}

/** Options of a request that creates something. */
export interface CreationOptions extends RequestOptions {
  /**
   * Two requests with the same key create only one resource. The client generates a key for each request, so its own retries
   * are safe. Pass a key that you store if your program may repeat the request after a restart.
   */
  idempotencyKey?: string | undefined;
}

/** Selects a response format other than JSON. */
export interface As<MediaType extends string> {
  accept: MediaType;
}

export interface WireRequest {
  url: string;
  method: string;
  operation: keyof ErrorCodes | undefined;
  /** The path within the API, without the query, which may name a patient. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  isRepeatable: boolean;
  /** The requested media type; undefined if the response should have no content. */
  answer: string | undefined;
}

type Input = Record<string, unknown>;

export function requestOf(
  baseUrl: string,
  { route, operation, query = [], body, honoursKey = false, answers = [JSON_TYPE] }: Route,
  input: Input,
  { bookmark, idempotencyKey, ifMatch, accept = answers[0] }: CreationOptions & Partial<As<string>>,
): WireRequest {
  if (accept !== undefined && !answers.includes(accept))
    throw new TypeError(`accept: must be one of ${answers.join(", ")}`);
  const [method = "", pattern = ""] = route.split(" ");
  const names = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  requireKnown(operation, [...names, ...query, ...Object.keys(body ?? {})], input);
  const { ...rest } = input;
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return segment(requirePresent(operation, name, value), value);
  });
  const parameters = new URLSearchParams();
  for (const name of query) {
    const value = rest[name];
    delete rest[name];
    if (value !== undefined && value !== null) parameters.set(name, textOf(value));
  }
  for (const [name, fields] of Object.entries(body ?? {})) {
    if (fields.length === 0) continue;
    requirePresent(operation, name, rest[name]);
    for (const each of [rest[name]].flat()) requireKnown(operation, fields, each);
  }
  const key = honoursKey && (idempotencyKey === undefined ? crypto.randomUUID() : idempotencyKey);
  return {
    url: `${baseUrl}${path}${parameters.size > 0 ? `?${parameters}` : ""}`,
    method,
    operation,
    path,
    headers: {
      // Error responses are JSON, even where a success has no content.
      Accept: accept ?? JSON_TYPE,
      ...(body ? { "Content-Type": JSON_TYPE } : {}),
      ...(key === false ? {} : { "Idempotency-Key": headerValue("idempotencyKey", key) }),
      ...(ifMatch === undefined ? {} : { "If-Match": headerValue("ifMatch", ifMatch) }),
      ...(bookmark === undefined ? {} : { "X-D1-Bookmark": headerValue("bookmark", bookmark) }),
    },
    body: body ? JSON.stringify(rest) : undefined,
    isRepeatable: method !== "POST" || honoursKey,
    answer: accept,
  };
}

/**
 * @throws TypeError for a name that the operation does not have, which the service would ignore, and for an invalid date, which JSON
 *   would send as null
 */
function requireKnown(operation: string | undefined, known: readonly string[], input: unknown): void {
  for (const [name, value] of Object.entries(input ?? {})) {
    if (value !== undefined && !known.includes(name))
      throw new TypeError(`${operation} has no ${name}; here it has ${known.join(", ") || "no names"}`);
    if (value instanceof Date && Number.isNaN(value.getTime()))
      throw new TypeError(`${operation}: ${name} is an invalid date`);
  }
}

function requirePresent(operation: string | undefined, name: string, value: unknown): string {
  if (value === undefined || value === null) throw new TypeError(`${operation}: ${name} is missing`);
  return name;
}

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));

/** @throws TypeError for an empty segment or dots, which would make the URL another path */
function segment(name: string, value: unknown): string {
  const text = String(value);
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${name} must be an id or a slug, and is "${text}"`);
  return encodeURIComponent(text);
}
