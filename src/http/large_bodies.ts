import { LARGE_BODY_TURN } from "../lifetimes.ts";
import { LARGE_BODY } from "../limits.ts";
import { LARGE_BODY_ALONE, LARGE_BODY_OVER_AFTER, MAX_LARGE_BODIES } from "../tuning.ts";
import { largeRequestWaited } from "./errors.ts";
import { waitUntil } from "./look_again.ts";

/** A request with a large body that this isolate handles. */
interface Turn {
  /** Before this time, no other begins. */
  aloneUntil: number;
  /** At this time it is over: a request that was cancelled never says so. */
  overAt: number;
}

const turns = new Set<Turn>();

/** True where the route takes bodies that need much memory, and this is one, or comes in chunks and does not say its size. */
export function mayBeLarge(maxSize: number, contentLength: string | undefined): boolean {
  return maxSize > LARGE_BODY && !(Number(contentLength) <= LARGE_BODY);
}

/**
 * Handles requests with large bodies one at a time: several at once could take more memory than an isolate has, and end all
 * its requests. But one whose handler takes long waits for a database. Others may use another one, so the next begins, as
 * long as there are not too many.
 *
 * @param read reads and validates the body
 * @throws ApiError 503 if it has not begun after LARGE_BODY_TURN
 */
export async function inTurn(read: () => Promise<void>, handle: () => Promise<void>): Promise<void> {
  const own: Turn = { aloneUntil: 0, overAt: 0 };
  if (!(await waitUntil(() => begin(own), LARGE_BODY_TURN))) throw largeRequestWaited();
  try {
    await read();
    own.aloneUntil = Math.min(own.aloneUntil, Date.now() + LARGE_BODY_ALONE);
    await handle();
  } finally {
    turns.delete(own);
  }
}

/** Begins a turn, if there is room for it. */
function begin(own: Turn): boolean {
  const now = Date.now();
  for (const turn of turns) if (turn.overAt <= now) turns.delete(turn);
  const isFree = turns.size < MAX_LARGE_BODIES && [...turns].every(({ aloneUntil }) => aloneUntil <= now);
  if (!isFree) return false;
  turns.add(own);
  own.aloneUntil = now + LARGE_BODY_TURN;
  own.overAt = now + LARGE_BODY_OVER_AFTER;
  return true;
}
