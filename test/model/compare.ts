import { Learned } from "./model.ts";

/** The differences, one line for each value. */
export function compare(expected: unknown, actual: unknown, at = ""): string[] {
  if (expected instanceof Learned) {
    if (actual === undefined) return [`${at} is missing`];
    expected.learn(actual as never);
    return [];
  }
  if (typeof expected === "object" && expected !== null && typeof actual === "object" && actual !== null) {
    const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...names].flatMap((name) =>
      compare(
        (expected as Record<string, unknown>)[name],
        (actual as Record<string, unknown>)[name],
        at ? `${at}.${name}` : name,
      ),
    );
  }
  return Object.is(expected, actual)
    ? []
    : [`${at}: the model says ${JSON.stringify(expected)}, the service ${JSON.stringify(actual)}`];
}
