import { type Attempt, endedBy, pause } from "./attempt.ts";
import { VideoVisitError } from "./errors.ts";
import { chunksOf, linesOf, parsed } from "./ndjson.ts";

export class Lines {
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null;
  readonly attempt: Attempt;
  readonly #response: Response;
  readonly #longest: number | undefined;

  constructor(response: Response, attempt: Attempt, longestLine: number | undefined) {
    this.next = response.headers.get("X-Next-After");
    this.attempt = attempt;
    this.#response = response;
    this.#longest = longestLine;
    // If the caller does not begin to read within the timeout, the response is cancelled.
    attempt.signal.addEventListener("abort", () => this.close(), { once: true });
  }

  async *lines(): AsyncGenerator<string, void, undefined> {
    const { signal, restart, rest, failure } = this.attempt;
    try {
      restart();
      for await (const line of linesOf(chunksOf(this.#response.body, signal), this.#longest)) {
        // A slow consumer must not count as a timeout.
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

/** A list that can be read once, and be left at any time: leaving it cancels the response, even before the first item is read. */
export function leavable(
  first: Lines,
  items: AsyncGenerator<unknown, void, undefined>,
): AsyncIterableIterator<unknown> {
  return {
    next: () => items.next(),
    return() {
      first.close();
      return items.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** More empty pages than this in a row mean that the list is stuck. */
const MOST_EMPTY_PAGES = 10_000;

interface Reading {
  signal: AbortSignal | undefined;
  /** The most failures in a row, without an item between them. */
  maxRetries: number;
  /** Yield the lines as received instead of parsed items. */
  asText: boolean;
}

/** The items of a page and of the pages after it. If a page breaks off, asks for the list after the last item received. */
export async function* listItems(
  first: Lines,
  from: number,
  { signal, maxRetries, asText }: Reading,
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
        yield asText ? line : item;
      }
    } catch (error) {
      const failure = first.attempt.failure(error);
      if (!failure.isTransient || ++failures > maxRetries) throw failure;
      await pause(failure, failures, signal, request, false);
      page = (await ask(last)) as Lines;
      continue;
    }
    if (page.next === null) return;
    const next = Number(page.next);
    empty = last > begun ? 0 : empty + 1;
    if (!Number.isSafeInteger(next) || next < last || next <= begun || empty > MOST_EMPTY_PAGES)
      throw wrong(`The service continues the list after ${page.next}, which does not follow ${last}`);
    last = next;
    page = (await ask(next)) as Lines;
  }
}
