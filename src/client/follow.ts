import type { ListEventsData, ListEventsResponse, VisitEvent } from "../../dist/client/external/types.gen.js";
import { VideoVisitError } from "./errors.ts";
import { pauseAfter, sleep } from "./pauses.ts";
import { FULL_PAGE } from "./request.ts";

export type EventTypeOrFamily = NonNullable<NonNullable<ListEventsData["query"]>["type"]>;

/** The events of a type, or of a family such as `call.*`. */
export type EventOfType<Type extends EventTypeOrFamily> = Type extends `${infer Family}.*`
  ? Extract<VisitEvent, { type: `${Family}.${string}` }>
  : Extract<VisitEvent, { type: Type }>;

export interface FollowOptions<Type extends EventTypeOrFamily = EventTypeOrFamily> {
  /**
   * The id of the last event that you have processed. Store it together with the result of processing the event. Without it,
   * you get all events that the service still keeps.
   */
  after?: number | undefined;
  /** Only events of this type or family, such as `transcript.finalized` or `call.*`. */
  type?: Type | undefined;
  /**
   * The pause, in milliseconds, when there are no new events and after a failed request. After a failure it can be longer, for
   * example if the service asks for more with `Retry-After`. By default 5,000.
   */
  interval?: number | undefined;
  /** Ends the iteration at once by throwing the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** In milliseconds. */
const INTERVAL = 5_000;

type Query = { after: number | undefined; type?: EventTypeOrFamily | undefined; per_page: number };

type ListEvents = (query: Query, options: { signal: AbortSignal | undefined }) => Promise<ListEventsResponse>;

/**
 * Searches for the end of the list, which begins with the oldest event. An empty page is past the end. A page that is not full
 * contains the newest event.
 *
 * @returns the id of the newest event; 0 without events
 */
export async function newestEvent(list: ListEvents, signal?: AbortSignal): Promise<number> {
  let newest = 0;
  let tooFar = Number.POSITIVE_INFINITY;
  for (let after = 0; ; after = Math.min(2 * newest, Math.floor((newest + tooFar) / 2))) {
    const { events, next_after } = await list({ after, per_page: FULL_PAGE }, { signal });
    if (events.length === 0) tooFar = after;
    else newest = next_after;
    if (tooFar <= newest || (events.length > 0 && events.length < FULL_PAGE)) return newest;
  }
}

/** @throws VideoVisitError that is not transient */
export async function* followEvents(
  list: ListEvents,
  { after, type, interval = INTERVAL, signal }: FollowOptions = {},
): AsyncGenerator<VisitEvent, never, undefined> {
  const query: Query = { after, type, per_page: FULL_PAGE };
  for (let failures = 0; ; ) {
    try {
      const { events, next_after: next } = await list(query, { signal });
      failures = 0;
      for (const event of events) {
        signal?.throwIfAborted();
        yield event;
      }
      query.after = next;
      if (events.length < FULL_PAGE) await sleep(interval, signal);
    } catch (error) {
      signal?.throwIfAborted();
      // Transient failures are retried without end, so that the caller survives an outage of any length.
      if (!(error instanceof VideoVisitError && error.isTransient)) throw error;
      failures++;
      await sleep(Math.max(interval, pauseAfter(error, failures)), signal);
    }
  }
}
