import { VideoVisitError } from "./errors.ts";
import { pauseAfter, sleep } from "./pauses.ts";
import {
  type As,
  type CreationOptions,
  type RequestOptions,
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

/** Sends a request until it succeeds, or is refused, or has been tried often enough. */
export async function send(
  connection: Connection,
  route: Route,
  input: object = {},
  options: CreationOptions & Partial<As<string>> = {},
): Promise<unknown> {
  const request = requestOf(connection.baseUrl, route, { ...input }, options);
  let isMaybeDone = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(connection, request, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof VideoVisitError)) throw error;
      // What an earlier attempt deleted is gone, as it should be.
      if (isMaybeDone && request.method === "DELETE" && error.status === 404) return undefined;
      const pause = pauseAfter(error, attempt);
      const isOver = !error.isTransient || pause === undefined || attempt > connection.maxRetries;
      if (isOver || !request.isRepeatable) throw error;
      isMaybeDone ||= error.status !== 429 && error.status !== 503;
      await sleep(pause, options.signal);
    }
  }
}

async function once(connection: Connection, request: WireRequest, options: RequestOptions): Promise<unknown> {
  const { signal, onResponse } = options;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(
    () => controller.abort(new Error(`No response within ${connection.timeout} milliseconds`)),
    connection.timeout,
  );
  try {
    const response = await received(() => fetched(connection, request, controller.signal));
    const content = await received(() => contentOf(response));
    onResponse?.({ status: response.status, headers: response.headers });
    if (response.ok) return content;
    throw refusal(response, content);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

function fetched(connection: Connection, { url, method, headers, body }: WireRequest, signal: AbortSignal) {
  return connection.fetch(url, {
    method,
    headers: { ...connection.headers, ...headers },
    ...(body === undefined ? {} : { body }),
    signal,
    // The secret would go along, wherever it leads.
    redirect: "manual",
  });
}

/** What was to be received. Whatever goes wrong on the way is the connection's fault. */
async function received<Value>(receive: () => Promise<Value>): Promise<Value> {
  try {
    return await receive();
  } catch (cause) {
    throw new VideoVisitError("No whole response came", { cause });
  }
}

/** @throws if JSON is cut off */
async function contentOf(response: Response): Promise<unknown> {
  const type = response.headers.get("Content-Type") ?? "";
  if (/^application\/json\b/.test(type)) {
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

function refusal({ status, headers }: Response, content: unknown): VideoVisitError {
  const { error } = (typeof content === "object" && content !== null ? content : {}) as { error?: unknown };
  const redirect = headers.get("Location");
  const otherwise = redirect
    ? `A redirect to ${redirect}, which is not followed: is the baseUrl right?`
    : "The response is not one of the service";
  const requestId = headers.get("X-Request-Id");
  const retryAfter = secondsOf(headers.get("Retry-After"));
  return new VideoVisitError(typeof error === "string" ? error : otherwise, {
    status,
    ...(requestId === null ? {} : { requestId }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
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
