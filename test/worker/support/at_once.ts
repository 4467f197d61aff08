/** Does so much at once, each with its number. */
export const atOnce = <T>(count: number, work: (n: number) => T) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));
