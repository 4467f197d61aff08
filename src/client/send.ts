import { VideoVisitError } from "./errors.ts";
import { isWorthRepeating, pauseAfter, sleep } from "./pauses.ts";
import {
  type As,
  type CreationOptions,
  JSON_TYPE,
  type Route,
  requestOf,
  type WireRequest,
} from "./request.ts";

/** What all requests of a client have in common. */
export interface Connection {
  baseUrl: string;
  headers: Record<string, string>;
  fetch: typeof fetch;
  maxRetries: number;
  /** Of one attempt, in milliseconds. */
  timeout: number;
}

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
  options: CreationOptions & Partial<As<string>> = {},
): Promise<unknown> {
  const request = requestOf(connection.baseUrl, route, { ...input }, options);
  const { signal, onResponse } = options;
  let isMaybeDone = false;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const { response, content, error } = await once(connection, request, isMaybeDone, signal);
    if (error) signal?.throwIfAborted();
    if (error && isWorthRepeating(error) && request.isRepeatable && attempt <= connection.maxRetries) {
      isMaybeDone = error.mayHaveSucceeded;
      await sleep(pauseAfter(error, attempt), signal);
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
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(
    () => controller.abort(new Error(`No response within ${connection.timeout} milliseconds`)),
    connection.timeout,
  );
  const changesSomething = request.method !== "GET";
  try {
    const response = await fetchOnce(connection, request, controller.signal);
    const content = await contentOf(response);
    if (isAnswer(response, request)) return { response, content };
    const isRefused = !response.ok && response.status < 500;
    return {
      response,
      content,
      error: refusal(response, content, changesSomething && (wasMaybeDone || !isRefused)),
    };
  } catch (cause) {
    // Whatever goes wrong on the way is the connection's fault.
    return {
      error: new VideoVisitError("No whole response came", { mayHaveSucceeded: changesSomething, cause }),
    };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

function fetchOnce(connection: Connection, { url, method, headers, body }: WireRequest, signal: AbortSignal) {
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
async function contentOf(response: Response): Promise<unknown> {
  const type = mediaTypeOf(response) ?? "";
  if (type === JSON_TYPE) {
    const text = await response.text();
    return response.ok ? JSON.parse(text) : jsonOr(text);
  }
  if (/^text\/|ndjson/.test(type)) return await response.text();
  const file = await response.blob();
  return file.size > 0 ? file : undefined;
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

function refusal(response: Response, content: unknown, mayHaveSucceeded: boolean): VideoVisitError {
  const { ok, status, headers } = response;
  const redirect = headers.get("Location");
  const otherwise =
    redirect && !ok
      ? `A redirect to ${redirect}, which is not followed: is the baseUrl right?`
      : "The response is not one of the service";
  return new VideoVisitError((ok ? undefined : textOf(content)) ?? otherwise, {
    status,
    requestId: headers.get("X-Request-Id") ?? undefined,
    retryAfter: secondsOf(headers.get("Retry-After")),
    mayHaveSucceeded,
  });
}

/** A header `Retry-After` has seconds, or a date if a proxy wrote it. */
function secondsOf(header: string | null): number | undefined {
  if (header === null || header.trim() === "") return undefined;
  const seconds = Number(header);
  if (seconds >= 0) return seconds;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
