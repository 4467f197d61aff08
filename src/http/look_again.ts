/** In milliseconds. */
const PAUSE = 20;

/**
 * Polls, because a request cannot wait for another one's promise. False after `limit`, in milliseconds.
 *
 * @param isSo checks, and claims the work if it is free
 */
export async function waitUntil(isSo: () => boolean, limit = Number.POSITIVE_INFINITY): Promise<boolean> {
  const giveUpAt = Date.now() + limit;
  while (!isSo()) {
    if (Date.now() >= giveUpAt) return false;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  return true;
}
