/** How long to wait after failures. */
interface Pauses {
  /** After the first failure. The pause doubles with each further one. */
  first: number;
  longest: number;
  /** A random part of the pause is added to it, up to this much, so that what failed together does not fail together again. */
  jitter: number;
}

/**
 * The pause after this many failures, in the unit of `first`. Only the schedule of webhooks is a table, and the client package
 * has its own.
 *
 * @param chance from 0 to 1
 */
export const growingPause = (
  failures: number,
  { first, longest, jitter }: Pauses,
  chance = Math.random(),
): number => Math.min(first * 2 ** (failures - 1), longest) * (1 + jitter * chance);
