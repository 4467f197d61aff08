import { headerValue } from "./headers.ts";

export const JSON_TYPE = "application/json";

/** Each line is JSON. */
export const NDJSON_TYPE = "application/x-ndjson";

/** What the service puts on a page at most. */
export const FULL_PAGE = 100;

/** How an operation is sent. */
export interface Route {
  /** Method and path, with the names of parameters in braces. */
  readonly route: string;
  /** The names of the parameters after the path. */
  readonly query?: readonly string[];
  /** Whether what is neither in the path nor after it is sent as the body. */
  readonly body?: boolean;
  /** Whether it can be repeated with an `Idempotency-Key`. */
  readonly honoursKey?: boolean;
  /** The media types of its responses, unless that is only JSON; none if they have no content. */
  readonly answers?: readonly string[];
}

export interface RequestOptions {
  /** Ends the request at once, also between two attempts: with an error that `failed` as `aborted`, whose cause is its reason. */
  signal?: AbortSignal | undefined;
  /** How long an attempt may take, in milliseconds. By default that of the client. */
  timeout?: number | undefined;
  /** How often a request that failed is sent again, at most. By default as often as the client does. */
  maxRetries?: number | undefined;
  /** The `X-D1-Bookmark` of another response: what is read is at least as new. */
  bookmark?: string | undefined;
  /**
   * Is called once, with the response that counts, that of the last attempt, for those who need its headers. Of something
   * that was deleted, 404 says that it was gone, probably by an attempt before.
   */
  onResponse?: ((response: { status: number; headers: Headers }) => void) | undefined;
}

/** Of a request that makes something. */
export interface CreationOptions extends RequestOptions {
  /**
   * Two requests with the same key make one thing. The client makes a key for each request, so that its own repetitions do
   * no harm: give one that you keep if your program may repeat the request after it was restarted.
   */
  idempotencyKey?: string | undefined;
}

/** Another form of the response than JSON. */
export interface As<MediaType extends string> {
  accept: MediaType;
}

export interface WireRequest {
  url: string;
  method: string;
  /** Of the API, without the query, which may say of whom. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  isRepeatable: boolean;
  /** The media type that was asked for; undefined if the response is to have no content. */
  answer: string | undefined;
}

type Input = Record<string, unknown>;

/** Writes a request as it is sent, in every attempt. */
export function requestOf(
  baseUrl: string,
  { route, query = [], body = false, honoursKey = false, answers = [JSON_TYPE] }: Route,
  input: Input,
  { bookmark, idempotencyKey, accept = answers[0] }: CreationOptions & Partial<As<string>>,
): WireRequest {
  if (accept !== undefined && !answers.includes(accept))
    throw new TypeError(`accept: must be one of ${answers.join(", ")}`);
  const [method = "", pattern = ""] = route.split(" ");
  const { ...rest } = input;
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return segment(name, value);
  });
  const parameters = new URLSearchParams();
  for (const name of query) {
    const value = rest[name];
    delete rest[name];
    if (value !== undefined && value !== null) parameters.set(name, String(value));
  }
  const key = honoursKey && (idempotencyKey === undefined ? crypto.randomUUID() : idempotencyKey);
  return {
    url: `${baseUrl}${path}${parameters.size > 0 ? `?${parameters}` : ""}`,
    method,
    path,
    headers: {
      // Errors are JSON, if nothing else is.
      Accept: accept ?? JSON_TYPE,
      ...(body ? { "Content-Type": JSON_TYPE } : {}),
      ...(key === false ? {} : { "Idempotency-Key": headerValue("idempotencyKey", key) }),
      ...(bookmark === undefined ? {} : { "X-D1-Bookmark": headerValue("bookmark", bookmark) }),
    },
    body: body ? JSON.stringify(rest) : undefined,
    isRepeatable: method !== "POST" || honoursKey,
    answer: accept,
  };
}

/** A URL takes an empty segment, and dots, as another path. */
function segment(name: string, value: unknown): string {
  const text = String(value ?? "");
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${name} must be an id or a slug, and is "${text}"`);
  return encodeURIComponent(text);
}
