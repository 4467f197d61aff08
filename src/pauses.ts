interface Pauses {
  /** Doubles with every further failure. */
  first: number;
  longest: number;
  /** At random, so that tasks that failed together do not all retry at once. */
  jitter: number;
}

/** In the unit of `first`. Webhooks have a fixed schedule instead. `chance` is from 0 to 1. */
export const growingPause = (
  failures: number,
  { first, longest, jitter }: Pauses,
  chance = Math.random(),
): number => Math.min(first * 2 ** (failures - 1), longest) * (1 + jitter * chance);
