import type { ErrorCode } from "../../dist/client/external/operations.gen.js";
import { begin, endedBy, pause } from "./attempt.ts";
import { VideoVisitError } from "./errors.ts";
import { Lines, leavable, listItems } from "./lists.ts";
import { chunksOf, parsed, Unacceptable } from "./ndjson.ts";
import { isWorthRepeating } from "./pauses.ts";
import {
  type As,
  type CreationOptions,
  NDJSON_TYPE,
  type Route,
  requestOf,
  type WireRequest,
} from "./request.ts";
import { requireRetries, requireTimeout } from "./settings.ts";

export interface Connection {
  baseUrl: string;
  headers: Record<string, string>;
  fetch: typeof fetch;
  maxRetries: number;
  /** The timeout of one attempt, in milliseconds. */
  timeout: number;
  /** Limits if the service is not trusted: of JSON and of a file in bytes, of an NDJSON line in characters. */
  bounds?: { json: number; file: number; line: number };
}

type Options = CreationOptions & Partial<As<string>>;

interface Outcome {
  response?: Response;
  content?: unknown;
  error?: VideoVisitError;
}

/**
 * Sends a request, and retries it up to `maxRetries` times after transient errors. A DELETE without content that gets 404 succeeds
 * if an earlier attempt may have deleted the resource.
 */
export async function send(
  connection: Connection,
  route: Route,
  input: object = {},
  options: Options = {},
): Promise<unknown> {
  const content = await carriedOut(connection, route, input, options);
  if (!(content instanceof Lines)) return content;
  const rest = { ...options, onResponse: undefined };
  const { after = 0 } = input as { after?: number };
  const ask = (next: number) => carriedOut(connection, route, { ...input, after: next }, rest);
  const { signal, maxRetries = connection.maxRetries } = options;
  const reading = { signal, maxRetries, asText: connection.bounds !== undefined };
  if (!route.query?.includes("after")) return leavable(content, itemsOf(content));
  return leavable(content, listItems(content, Number(after), reading, ask));
}

async function* itemsOf(content: Lines): AsyncGenerator<unknown, void, undefined> {
  for await (const line of content.lines()) yield parsed(line);
}

/** @returns `Lines` for NDJSON */
export async function carriedOut(
  connection: Connection,
  route: Route,
  input: object,
  options: Options,
): Promise<unknown> {
  const request = requestOf(connection.baseUrl, route, { ...input }, options);
  const { signal, onResponse } = options;
  const timeout = requireTimeout(options.timeout ?? connection.timeout);
  const maxRetries = requireRetries(options.maxRetries ?? connection.maxRetries);
  let isMaybeDone = false;
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted) throw endedBy(signal, request, isMaybeDone);
    const { response, content, error } = await once({ ...connection, timeout }, request, isMaybeDone, signal);
    if (error && isWorthRepeating(error) && request.isRepeatable && attempt <= maxRetries) {
      isMaybeDone = error.mayHaveSucceeded;
      await pause(error, attempt, signal, request, isMaybeDone);
      continue;
    }
    if (response) onResponse?.({ status: response.status, headers: response.headers });
    if (!error) return content;
    const isGone = error.status === 404 && textOf(content) !== undefined;
    // Without content: a caller who expects content needs the error.
    const isDeletion = request.method === "DELETE" && request.answer === undefined;
    if (isMaybeDone && isDeletion && isGone) return undefined;
    throw error;
  }
}

async function once(
  connection: Connection,
  request: WireRequest,
  wasMaybeDone: boolean,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const changesSomething = request.method !== "GET";
  const attempt = begin(connection.timeout, request, changesSomething, signal);
  try {
    const response = await connection.fetch(request.url, {
      method: request.method,
      headers: { ...connection.headers, ...request.headers },
      body: request.body,
      signal: attempt.signal,
      // Following a redirect would send the secret to its target.
      redirect: "manual",
    });
    if (isAnswer(response, request) && request.answer === NDJSON_TYPE)
      return { response, content: new Lines(response, attempt, connection.bounds?.line) };
    const content = await contentOf(response, connection);
    attempt.end();
    if (isAnswer(response, request)) return { response, content };
    const isRefused = !response.ok && response.status < 500;
    return {
      response,
      content,
      error: refusal(request, response, content, changesSomething && (wasMaybeDone || !isRefused)),
    };
  } catch (cause) {
    attempt.end();
    return { error: attempt.failure(cause) };
  }
}

/** Whether this is a successful response of the operation: proxies and login pages respond with 200 too. */
const isAnswer = (response: Response, { answer }: WireRequest): boolean =>
  answer === undefined ? response.status === 204 : response.ok && mediaTypeOf(response) === answer;

const mediaTypeOf = ({ headers }: Response): string | undefined =>
  headers.get("Content-Type")?.split(";")[0]?.trim().toLowerCase();

/** @throws Unacceptable if a successful response is not valid JSON, or if a response is longer than the bounds */
async function contentOf(response: Response, { bounds }: Connection): Promise<unknown> {
  const type = mediaTypeOf(response) ?? "";
  const isJson = /[/+](json|jws)$/.test(type);
  const isFile = !isJson && !/json|^text\//.test(type);
  const bounded = bounds
    ? await withinBounds(response, response.ok && isFile ? bounds.file : bounds.json)
    : response;
  if (isJson) {
    const text = await bounded.text();
    return response.ok ? parsed(text) : jsonOr(text);
  }
  if (!isFile) return await bounded.text();
  const file = await bounded.blob();
  return file.size > 0 ? file : undefined;
}

async function withinBounds(response: Response, longest: number): Promise<Response> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of chunksOf(response.body)) {
    length += chunk.length;
    if (length > longest) throw new Unacceptable(`The response has more than ${longest} bytes`);
    chunks.push(new Uint8Array(chunk));
  }
  return new Response(new Blob(chunks));
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The text of the service's error response; undefined for any other content. */
function textOf(content: unknown): string | undefined {
  const { error } = (typeof content === "object" && content !== null ? content : {}) as { error?: unknown };
  return typeof error === "string" ? error : undefined;
}

function refusal(
  { method, path, operation }: WireRequest,
  response: Response,
  content: unknown,
  mayHaveSucceeded: boolean,
): VideoVisitError {
  const { ok, status, headers } = response;
  const redirect = headers.get("Location");
  const otherwise =
    redirect && !ok
      ? `A redirect${leadingTo(redirect)}, which is not followed: is the baseUrl right?`
      : "The response did not come from the service";
  return new VideoVisitError((ok ? undefined : textOf(content)) ?? otherwise, {
    method,
    path,
    operation,
    failed: "response",
    status,
    code: (headers.get("Error-Code") as ErrorCode | null) ?? undefined,
    requestId: headers.get("X-Request-Id") ?? undefined,
    retryAfter: secondsOf(headers.get("Retry-After")),
    mayHaveSucceeded,
  });
}

/** Names only the origin: the rest of the URL may repeat the request's query. */
const leadingTo = (location: string) => (URL.canParse(location) ? ` to ${new URL(location).origin}` : "");

/** `Retry-After` is in seconds, or a date if a proxy set it. */
function secondsOf(header: string | null): number | undefined {
  if (header === null || header.trim() === "") return undefined;
  const seconds = Number(header);
  if (seconds >= 0) return seconds;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
