import type { Target } from "./wrangler.ts";

/** What wrangler says of a local database while the server writes to it. */
const BUSY = /internal error|SQLITE_BUSY|database is locked/;

const ATTEMPTS = 5;

/**
 * Does something with a database that a busy server uses too. Two processes write to the file of a local one, and one of them
 * may have to try again.
 *
 * @param run what may be done twice
 */
export function whileBusy<Result>({ remote }: Target, run: () => Result, pause = 1000): Result {
  for (let attempt = 1; ; attempt++)
    try {
      return run();
    } catch (error) {
      if (remote || !BUSY.test((error as Error).message)) throw error;
      if (attempt === ATTEMPTS)
        throw new Error(
          "The local database is busy. Stop `npm run dev`, which uses it, and run the command again.",
          { cause: error },
        );
      // All commands wait for wrangler in this way.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
    }
}
