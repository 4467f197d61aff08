/** The names that a caller may have meant, the most similar one first. */
export const nearest = (sent: string, known: readonly string[]): string[] =>
  known.toSorted((a, b) => likeness(b, sent) - likeness(a, sent));

/** The share of a name's pairs of characters that the other name has too. */
const likeness = (one: string, other: string): number =>
  [...one].filter((_, at) => at > 0 && other.includes(one.slice(at - 1, at + 1))).length / one.length;
