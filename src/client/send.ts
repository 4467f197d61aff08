import { type Failure, VideoVisitError } from "./errors.ts";
import { chunksOf, linesOf } from "./ndjson.ts";
import { isWorthRepeating, pauseAfter, sleep } from "./pauses.ts";
import {
  type As,
  type CreationOptions,
  JSON_TYPE,
  NDJSON_TYPE,
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
  /** For who does not trust the service: how long a response may be, in bytes, and a line of NDJSON, in characters. */
  bounds?: { response: number; line: number };
}

/** An attempt, as it fails or succeeds. */
interface Attempt {
  connection: Connection;
  request: WireRequest;
  /** Ends it, when the caller wants, or when nothing has come for so long. */
  signal: AbortSignal;
  /** The time of the service runs again from now on; and it does not run while the caller is at work. */
  restart: () => void;
  rest: () => void;
  /** The error of a failure. */
  failure: (cause: unknown) => VideoVisitError;
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
  const { signal, onResponse, timeout = connection.timeout, maxRetries = connection.maxRetries } = options;
  let isMaybeDone = false;
  const aborted = () =>
    new VideoVisitError("The signal ended it", {
      ...request,
      failed: "aborted",
      mayHaveSucceeded: isMaybeDone,
      cause: signal?.reason,
    });
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted) throw aborted();
    const { response, content, error } = await once({ ...connection, timeout }, request, isMaybeDone, signal);
    if (error && isWorthRepeating(error) && request.isRepeatable && attempt <= maxRetries) {
      isMaybeDone = error.mayHaveSucceeded;
      await sleep(pauseAfter(error, attempt), signal).catch(() => {
        throw aborted();
      });
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
  const attempt = begin(connection, request, changesSomething, signal);
  try {
    const response = await fetchOnce(attempt);
    if (isAnswer(response, request) && request.answer === NDJSON_TYPE) {
      attempt.rest();
      return { response, content: itemsOf(response, attempt) };
    }
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
    // Whatever goes wrong on the way is the connection's fault.
    return { error: attempt.failure(cause) };
  }
}

function begin(
  connection: Connection,
  request: WireRequest,
  mayHaveSucceeded: boolean,
  signal: AbortSignal | undefined,
): Attempt & { end: () => void } {
  const { timeout } = connection;
  const controller = new AbortController();
  let failed: Failure = "connection";
  const stop = (why: Failure, reason: unknown) => {
    if (!controller.signal.aborted) failed = why;
    controller.abort(reason);
  };
  const abort = () => stop("aborted", signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const late = () => stop("timeout", new Error(`No response within ${timeout} milliseconds`));
  let timer = setTimeout(late, timeout);
  return {
    connection,
    request,
    signal: controller.signal,
    restart() {
      timer = setTimeout(late, timeout);
    },
    rest: () => clearTimeout(timer),
    end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    },
    failure: (cause) =>
      cause instanceof VideoVisitError
        ? cause
        : new VideoVisitError(
            {
              aborted: "The signal ended it",
              timeout: `No whole response came within ${timeout} milliseconds`,
              connection: "No whole response came",
              response: "",
            }[failed],
            { ...request, failed, mayHaveSucceeded, cause },
          ),
  };
}

function fetchOnce({ connection, request, signal }: Attempt) {
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

/** What NDJSON holds, item by item, while it comes. For who does not trust the service: its lines, as they are. */
async function* itemsOf(
  response: Response,
  { connection, signal, restart, rest, end, failure }: ReturnType<typeof begin>,
): AsyncGenerator<unknown, void, undefined> {
  const { bounds } = connection;
  try {
    restart();
    for await (const line of linesOf(chunksOf(response.body, signal), bounds?.line)) {
      rest();
      yield bounds ? line : JSON.parse(line);
      restart();
    }
  } catch (cause) {
    throw failure(cause);
  } finally {
    end();
  }
}

/** @throws if JSON is cut off */
async function contentOf(response: Response, { bounds }: Connection): Promise<unknown> {
  const type = mediaTypeOf(response) ?? "";
  const bounded = bounds ? await withinBounds(response, bounds.response) : response;
  if (type === JSON_TYPE) {
    const text = await bounded.text();
    return response.ok ? JSON.parse(text) : jsonOr(text);
  }
  if (/^text\/|ndjson/.test(type)) return await bounded.text();
  const file = await bounded.blob();
  return file.size > 0 ? file : undefined;
}

/** @throws Error if it is longer */
async function withinBounds(response: Response, longest: number): Promise<Response> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of chunksOf(response.body)) {
    length += chunk.length;
    if (length > longest) throw new Error(`The response has more than ${longest} bytes`);
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
      ? `A redirect to ${redirect}, which is not followed: is the baseUrl right?`
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

/** A header `Retry-After` has seconds, or a date if a proxy wrote it. */
function secondsOf(header: string | null): number | undefined {
  if (header === null || header.trim() === "") return undefined;
  const seconds = Number(header);
  if (seconds >= 0) return seconds;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
