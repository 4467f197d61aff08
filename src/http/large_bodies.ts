import { LARGE_BODY, LARGE_BODY_TURN } from "../limits.ts";
import { largeBodyWaited } from "./errors.ts";

/** How long to wait before looking again whether a turn is over. */
const LOOK_AGAIN = 20;

/** The request whose turn it is in this isolate, and until when at most: one that was cancelled never says that it is done. */
let turn: { until: number } | undefined;

/** True where the route takes bodies that need much memory, and this is one, or comes in chunks and does not say its size. */
export function mayBeLarge(maxSize: number, contentLength: string | undefined): boolean {
  return maxSize > LARGE_BODY && !(Number(contentLength) <= LARGE_BODY);
}

/**
 * Handles requests with large bodies one at a time: several at once could take more memory than an isolate has, and end all
 * its requests. Workers cannot wait for each other's promises, so a request looks again and again whether it may begin.
 *
 * @throws ApiError 503 if it has not begun after LARGE_BODY_TURN
 */
export async function inTurn(handle: () => Promise<void>): Promise<void> {
  const giveUpAt = Date.now() + LARGE_BODY_TURN;
  while (turn && turn.until > Date.now()) {
    if (Date.now() >= giveUpAt) throw largeBodyWaited();
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN));
  }
  const own = { until: Date.now() + LARGE_BODY_TURN };
  turn = own;
  try {
    await handle();
  } finally {
    if (turn === own) turn = undefined;
  }
}
