interface Pauses {
  /** The pause after the first failure. It doubles with every further one. */
  first: number;
  longest: number;
  /** Up to this fraction of the pause is added at random, so that tasks that failed together do not all retry at once. */
  jitter: number;
}

/**
 * The pause after a number of failures, in the unit of `first`. Only webhooks have a fixed schedule instead, and the
 * client package has its own code.
 *
 * @param chance from 0 to 1
 */
export const growingPause = (
  failures: number,
  { first, longest, jitter }: Pauses,
  chance = Math.random(),
): number => Math.min(first * 2 ** (failures - 1), longest) * (1 + jitter * chance);
