/** In milliseconds, between two checks. */
const PAUSE = 20;

/**
 * Polls until another request has finished its work: Workers cannot wait for each other's promises.
 *
 * @param isSo checks, and claims the work if it is free
 * @param limit in milliseconds
 * @returns false if it is still not so after the limit
 */
export async function waitUntil(isSo: () => boolean, limit = Number.POSITIVE_INFINITY): Promise<boolean> {
  const giveUpAt = Date.now() + limit;
  while (!isSo()) {
    if (Date.now() >= giveUpAt) return false;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  return true;
}
