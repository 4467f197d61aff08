/** Lists that come as NDJSON, while they come. */
import { type Attempt, endedBy, pause } from "./attempt.ts";
import { VideoVisitError } from "./errors.ts";
import { chunksOf, linesOf, parsed } from "./ndjson.ts";

/** The lines of a page of NDJSON, while it comes. */
export class Lines {
  /** Where the list goes on after this page; null at its end. */
  readonly next: string | null;
  readonly attempt: Attempt;
  readonly #response: Response;
  readonly #longest: number | undefined;

  constructor(response: Response, attempt: Attempt, longestLine: number | undefined) {
    this.next = response.headers.get("X-Next-After");
    this.attempt = attempt;
    this.#response = response;
    this.#longest = longestLine;
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

/** A list that comes item by item, page after page. It can be gone through once, and left at any time, also before it is begun. */
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

/** Pages without an item, one after the other: more of them, and the list does not move. */
const MOST_EMPTY_PAGES = 10_000;

/** How a list is read. */
interface Reading {
  signal: AbortSignal | undefined;
  /** Of a page that breaks off, while no item comes. */
  maxRetries: number;
  /** The lines as they came, and not what they mean. */
  asText: boolean;
}

/** The items of a page and of those that follow. Where a page breaks off, the list goes on after the last item that came. */
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
      throw wrong(`The service wants the list read on after ${page.next}, and not after ${last}`);
    last = next;
    page = (await ask(next)) as Lines;
  }
}
