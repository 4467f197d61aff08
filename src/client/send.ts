import { begin, endedBy, pause } from "./attempt.ts";
import { VideoVisitError } from "./errors.ts";
import { Lines, leavable, listItems } from "./lists.ts";
import { chunksOf, parsed, Unacceptable } from "./ndjson.ts";
import { isWorthRepeating } from "./pauses.ts";
import {
  type As,
  type CreationOptions,
  JSON_TYPE,
  NDJSON_TYPE,
  type Route,
  requestOf,
  type WireRequest,
} from "./request.ts";
import { requireRetries, requireTimeout } from "./settings.ts";

/** What all requests of a client have in common. */
export interface Connection {
  baseUrl: string;
  headers: Record<string, string>;
  fetch: typeof fetch;
  maxRetries: number;
  /** Of one attempt, in milliseconds. */
  timeout: number;
  /** For who does not trust the service: how long JSON and a file may be, in bytes, and a line of NDJSON, in characters. */
  bounds?: { json: number; file: number; line: number };
}

type Options = CreationOptions & Partial<As<string>>;

/** What comes of an attempt: the content, or why there is none. */
interface Outcome {
  /** Undefined if no whole one came. */
  response?: Response;
  content?: unknown;
  error?: VideoVisitError;
}

/**
 * Sends a request until it succeeds, or is refused, or has been tried often enough. What is to be deleted, and is gone after
 * an attempt that may have deleted it, counts as deleted.
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
  return leavable(content, listItems(content, Number(after), reading, ask));
}

async function carriedOut(
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
    if (isMaybeDone && request.method === "DELETE" && isGone) return undefined;
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
    const response = await fetchOnce(connection, request, attempt.signal);
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

function fetchOnce(connection: Connection, request: WireRequest, signal: AbortSignal) {
  const { url, method, headers, body } = request;
  return connection.fetch(url, {
    method,
    headers: { ...connection.headers, ...headers },
    ...(body === undefined ? {} : { body }),
    signal,
    // The secret would go along, wherever it leads.
    redirect: "manual",
  });
}

/** Whether it is what the operation answers with when it succeeds: proxies and pages to log in say 200 too. */
const isAnswer = (response: Response, { answer }: WireRequest): boolean =>
  answer === undefined ? response.status === 204 : response.ok && mediaTypeOf(response) === answer;

const mediaTypeOf = ({ headers }: Response): string | undefined =>
  headers.get("Content-Type")?.split(";")[0]?.trim().toLowerCase();

/** @throws if JSON is cut off */
async function contentOf(response: Response, { bounds }: Connection): Promise<unknown> {
  const type = mediaTypeOf(response) ?? "";
  const isFile = !/json|^text\//.test(type);
  const bounded = bounds
    ? await withinBounds(response, response.ok && isFile ? bounds.file : bounds.json)
    : response;
  if (type === JSON_TYPE) {
    const text = await bounded.text();
    return response.ok ? parsed(text) : jsonOr(text);
  }
  if (!isFile) return await bounded.text();
  const file = await bounded.blob();
  return file.size > 0 ? file : undefined;
}

/** @throws Unacceptable if it is longer */
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

/** That of an error of the service. */
function textOf(content: unknown): string | undefined {
  const { error } = (typeof content === "object" && content !== null ? content : {}) as { error?: unknown };
  return typeof error === "string" ? error : undefined;
}

function refusal(
  { method, path }: WireRequest,
  response: Response,
  content: unknown,
  mayHaveSucceeded: boolean,
): VideoVisitError {
  const { ok, status, headers } = response;
  const redirect = headers.get("Location");
  const otherwise =
    redirect && !ok
      ? `A redirect${leadingTo(redirect)}, which is not followed: is the baseUrl right?`
      : "The response is not one of the service";
  return new VideoVisitError((ok ? undefined : textOf(content)) ?? otherwise, {
    method,
    path,
    failed: "response",
    status,
    requestId: headers.get("X-Request-Id") ?? undefined,
    retryAfter: secondsOf(headers.get("Retry-After")),
    mayHaveSucceeded,
  });
}

/** Only the host: the rest may have what was asked for. */
const leadingTo = (location: string) => (URL.canParse(location) ? ` to ${new URL(location).origin}` : "");

/** A header `Retry-After` has seconds, or a date if a proxy wrote it. */
function secondsOf(header: string | null): number | undefined {
  if (header === null || header.trim() === "") return undefined;
  const seconds = Number(header);
  if (seconds >= 0) return seconds;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
