import { type Failure, VideoVisitError, withoutAddresses } from "./errors.ts";
import { chunksOf, linesOf, parsed, Unacceptable } from "./ndjson.ts";
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
  return new List(content, listItems(connection, content, Number(after), options, ask));
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
      await sleep(pauseAfter(error, attempt), signal).catch(() => {
        throw endedBy(signal, request, isMaybeDone);
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

/** @throws what the caller's signal means */
const endedBy = (signal: AbortSignal | undefined, where: WireRequest, mayHaveSucceeded: boolean) =>
  new VideoVisitError("The signal ended it", {
    ...where,
    failed: "aborted",
    mayHaveSucceeded,
    cause: signal?.reason,
  });

async function once(
  connection: Connection,
  request: WireRequest,
  wasMaybeDone: boolean,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const changesSomething = request.method !== "GET";
  const attempt = begin(connection, request, changesSomething, signal);
  try {
    const response = await fetchOnce(connection, request, attempt.signal);
    if (isAnswer(response, request) && request.answer === NDJSON_TYPE)
      return { response, content: new Lines(response, attempt, connection.bounds) };
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

/** An attempt, until it has all that it waits for, or fails. */
interface Attempt {
  request: WireRequest;
  /** Ends it, when the caller wants, or when nothing has come for so long. */
  signal: AbortSignal;
  /** The time of the service runs again from now on; and it does not run while the caller is at work. */
  restart: () => void;
  rest: () => void;
  end: () => void;
  /** The error of a failure. */
  failure: (cause: unknown) => VideoVisitError;
}

function begin(
  { timeout }: Connection,
  request: WireRequest,
  mayHaveSucceeded: boolean,
  signal: AbortSignal | undefined,
): Attempt {
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
  const rest = () => clearTimeout(timer);
  return {
    request,
    signal: controller.signal,
    rest,
    restart() {
      rest();
      timer = setTimeout(late, timeout);
    },
    end() {
      rest();
      signal?.removeEventListener("abort", abort);
    },
    failure(cause) {
      if (cause instanceof VideoVisitError) return cause;
      if (failed === "aborted") return endedBy(signal, request, mayHaveSucceeded);
      const why = cause instanceof Unacceptable ? "response" : failed;
      const text = {
        response: "The response is not one of the service",
        timeout: `No whole response came within ${timeout} milliseconds`,
        connection: "No whole response came",
      }[why];
      return new VideoVisitError(text, {
        ...request,
        failed: why,
        mayHaveSucceeded,
        cause: withoutAddresses(cause),
      });
    },
  };
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

/** The lines of a page of NDJSON, while it comes. */
class Lines {
  /** Where the list goes on after this page; null at its end. */
  readonly next: string | null;
  readonly attempt: Attempt;
  readonly #response: Response;
  readonly #longest: number | undefined;

  constructor(response: Response, attempt: Attempt, bounds: Connection["bounds"]) {
    this.next = response.headers.get("X-Next-After");
    this.attempt = attempt;
    this.#response = response;
    this.#longest = bounds?.line;
    // If nobody takes it in time, it is let go.
    attempt.signal.addEventListener("abort", () => this.close(), { once: true });
  }

  async *lines(): AsyncGenerator<string, void, undefined> {
    const { signal, restart, rest, failure } = this.attempt;
    try {
      restart();
      for await (const line of linesOf(chunksOf(this.#response.body, signal), this.#longest)) {
        // Who takes their time is not the service's fault.
        rest();
        yield line;
        restart();
      }
    } catch (cause) {
      throw failure(cause);
    } finally {
      this.attempt.end();
    }
  }

  close(): void {
    this.attempt.end();
    if (!this.#response.body?.locked) this.#response.body?.cancel().catch(() => {});
  }
}

/** A list that comes item by item, page after page. It can be gone through once, and left at any time. */
class List implements AsyncIterableIterator<unknown> {
  readonly #first: Lines;
  readonly #items: AsyncGenerator<unknown, void, undefined>;

  constructor(first: Lines, items: AsyncGenerator<unknown, void, undefined>) {
    this.#first = first;
    this.#items = items;
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#items.next();
  }

  return(): Promise<IteratorResult<unknown>> {
    this.#first.close();
    return this.#items.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Pages without an item, one after the other: more of them, and the list does not move. */
const MOST_EMPTY_PAGES = 10_000;

/** The items of a page and of those that follow. Where a page breaks off, the list goes on after the last item that came. */
async function* listItems(
  { bounds, maxRetries }: Connection,
  first: Lines,
  from: number,
  { signal, maxRetries: retries = maxRetries }: Options,
  ask: (after: number) => Promise<unknown>,
): AsyncGenerator<unknown, void, undefined> {
  const { request } = first.attempt;
  const wrong = (text: string) => new VideoVisitError(text, { ...request, failed: "response" });
  let page = first;
  let [last, failures, empty] = [from, 0, 0];
  for (;;) {
    const begun = last;
    try {
      for await (const line of page.lines()) {
        if (signal?.aborted) throw endedBy(signal, request, false);
        const item = parsed(line);
        const { id } = (item ?? {}) as { id?: unknown };
        if (typeof id === "number") last = Math.max(last, id);
        failures = 0;
        yield bounds ? line : item;
      }
    } catch (error) {
      const failure = first.attempt.failure(error);
      if (!failure.isTransient || ++failures > retries) throw failure;
      await sleep(pauseAfter(failure, failures), signal);
      page = (await ask(last)) as Lines;
      continue;
    }
    if (page.next === null) return;
    const next = Number(page.next);
    empty = last > begun ? 0 : empty + 1;
    if (!Number.isSafeInteger(next) || next < last || next <= begun || empty > MOST_EMPTY_PAGES)
      throw wrong(`The service wants the list read on after ${page.next}, and not after ${last}`);
    last = next;
    page = (await ask(next)) as Lines;
  }
}

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
