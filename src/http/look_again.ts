/** How long to wait before looking again. */
const PAUSE = 20;

/**
 * Waits for what other requests do. Workers cannot wait for each other's promises, so a request looks again and again.
 *
 * @param isSo looks, and takes what only one can have, if it is free
 * @param limit in milliseconds
 * @returns false if it is not so after this time
 */
export async function waitUntil(isSo: () => boolean, limit = Number.POSITIVE_INFINITY): Promise<boolean> {
  const giveUpAt = Date.now() + limit;
  while (!isSo()) {
    if (Date.now() >= giveUpAt) return false;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  return true;
}
