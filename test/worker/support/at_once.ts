export const atOnce = <T>(count: number, work: (n: number) => T) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

export function statusesOf(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
