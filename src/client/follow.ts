import type { ListEventsData, ListEventsResponse, VisitEvent } from "../../dist/client/external/types.gen.js";
import { VideoVisitError } from "./errors.ts";
import { pauseAfter, sleep } from "./pauses.ts";
import { FULL_PAGE } from "./request.ts";

export type EventTypeOrFamily = NonNullable<NonNullable<ListEventsData["query"]>["type"]>;

/** The events of a type, or of a family. */
export type EventOfType<Type extends EventTypeOrFamily> = Type extends `${infer Family}.*`
  ? Extract<VisitEvent, { type: `${Family}.${string}` }>
  : Extract<VisitEvent, { type: Type }>;

export interface FollowOptions<Type extends EventTypeOrFamily = EventTypeOrFamily> {
  /**
   * The id of the last event that you have seen: keep it with what you made of the event. Without it, all events that are
   * kept.
   */
  after?: number | undefined;
  /** Only events of this type or family, such as `transcript.finalized` or `call.*`. */
  type?: Type | undefined;
  /**
   * How long to wait, in milliseconds, when there is nothing new; and after a failure, if the service does not want a longer
   * pause. By default 5,000.
   */
  interval?: number | undefined;
  /** Ends it at once, with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** In milliseconds. */
const INTERVAL = 5_000;

type Query = { after?: number; type?: EventTypeOrFamily; per_page: number };

type ListEvents = (query: Query, options: { signal: AbortSignal | undefined }) => Promise<ListEventsResponse>;

/** Every event after one, in order and once, and then those that come: until the signal, or an error that will not go away. */
export async function* followEvents(
  list: ListEvents,
  { after, type, interval = INTERVAL, signal }: FollowOptions = {},
): AsyncGenerator<VisitEvent, never, undefined> {
  const query: Query = { per_page: FULL_PAGE };
  if (after !== undefined) query.after = after;
  if (type !== undefined) query.type = type;
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
      // A program that follows events wants to go on after an outage, however long it is.
      if (!(error instanceof VideoVisitError && error.isTransient)) throw error;
      failures++;
      await sleep(Math.max(interval, pauseAfter(error, failures)), signal);
    }
  }
}
