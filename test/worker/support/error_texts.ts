import faults from "../../../src/reference/faults.md?raw";

const PLACEHOLDERS: Record<string, string> = {
  "{number}": "-?[\\d,]+",
  "{list}": "[\\w.*:-]+(?:, [\\w.*:-]+)*",
  "{name}": "[a-z]+(?: [a-z]+)*",
};

const patternOf = (fault: string) =>
  fault
    .replace(/[.*+?^$()|[\]\\]/g, "\\$&")
    .replace(/\{\w+\}/g, (placeholder) => PLACEHOLDERS[placeholder] ?? placeholder);

const FIELD_FAULTS = [...faults.matchAll(/^\| `` (.*?) `` \|/gm)].map(
  ([, fault = ""]) => new RegExp(`^[\\w.-]+: ${patternOf(fault)}$`),
);

/** Makes texts comparable: a number in an example stands for any number, or for a list of numbers. */
const anyNumber = (text: string) => text.replace(/\d+(, \d+)*/g, "0");

/**
 * Whether the text of an error is one of the examples of its operation and status. If fields can be at fault, the text may
 * also combine several examples and the faults that the guides list.
 */
export function isDocumented(text: string, status: number, examples: readonly string[]): boolean {
  const known = new Set(examples.map(anyNumber));
  const faults = status === 400 || status === 422 ? FIELD_FAULTS : [];
  const isOne = (part: string) => known.has(anyNumber(part)) || faults.some((fault) => fault.test(part));

  function isMadeOfFaults(rest: string): boolean {
    if (isOne(rest)) return true;
    // The text of a single fault may have a semicolon as well, so each semicolon is tried as the end of the first fault.
    for (let at = rest.indexOf("; "); at >= 0; at = rest.indexOf("; ", at + 1)) {
      const others = rest.slice(at + 2);
      if (isOne(rest.slice(0, at)) && (/^and \d+ more$/.test(others) || isMadeOfFaults(others))) return true;
    }
    return false;
  }

  return faults.length > 0 ? isMadeOfFaults(text) : isOne(text);
}
