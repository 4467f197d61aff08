import { LARGE_BODY_TURN } from "../lifetimes.ts";
import { LARGE_BODY } from "../limits.ts";
import { LARGE_REQUEST_ALONE, MAX_LARGE_BODIES } from "../tuning.ts";
import { type Turn, takeTurn } from "./large_requests.ts";

const turns = new Set<Turn>();

/** True where the route takes bodies that need much memory, and this is one, or comes in chunks and does not say its size. */
export function mayBeLarge(maxSize: number, contentLength: string | undefined): boolean {
  return maxSize > LARGE_BODY && !(Number(contentLength) <= LARGE_BODY);
}

/**
 * Handles requests with large bodies one at a time.
 *
 * @param read reads and validates the body
 * @throws ApiError 503 if its turn does not come
 */
export async function inTurn(read: () => Promise<void>, handle: () => Promise<void>): Promise<void> {
  const own = await takeTurn(turns, MAX_LARGE_BODIES, LARGE_BODY_TURN);
  try {
    await read();
    own.aloneUntil = Math.min(own.aloneUntil, Date.now() + LARGE_REQUEST_ALONE);
    await handle();
  } finally {
    turns.delete(own);
  }
}
