import { LARGE_BODY_TURN } from "../lifetimes.ts";
import { LARGE_REQUEST_OVER_AFTER } from "../tuning.ts";
import { largeRequestWaited } from "./errors.ts";
import { waitUntil } from "./look_again.ts";

/** A request that needs much memory, and that this isolate handles. */
export interface Turn {
  /** Before this time, no other begins. */
  aloneUntil: number;
  /** At this time it is over: a request that was cancelled never says so, and a caller may never take its answer. */
  overAt: number;
}

/**
 * Waits until few of those with a turn are left, and none of them is alone any more: several at once could take more memory than
 * an isolate has, and end all its requests. But one that takes long waits for a database, or for its caller. Others may use
 * another one, so the next begins, as long as there are not too many.
 *
 * @param turns of those that are handled now; this one is added to them
 * @param most of these at once
 * @param aloneFor in milliseconds
 * @throws ApiError 503 if it has not begun after LARGE_BODY_TURN
 */
export async function takeTurn(turns: Set<Turn>, most: number, aloneFor: number): Promise<Turn> {
  const own = { aloneUntil: 0, overAt: 0 };
  function begin(): boolean {
    const now = Date.now();
    for (const turn of turns) if (turn.overAt <= now) turns.delete(turn);
    if (turns.size >= most || [...turns].some((turn) => turn.aloneUntil > now)) return false;
    turns.add(Object.assign(own, { aloneUntil: now + aloneFor, overAt: now + LARGE_REQUEST_OVER_AFTER }));
    return true;
  }
  if (!(await waitUntil(begin, LARGE_BODY_TURN))) throw largeRequestWaited();
  return own;
}
