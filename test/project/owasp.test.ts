import { Spectral } from "@stoplight/spectral-core";
import owasp from "@stoplight/spectral-owasp-ruleset";
import { describe, expect, it } from "vitest";
import { API_NAMES } from "../../src/reference/apis.ts";
import { documentOf } from "./support/documents.ts";
import { EXCEPTIONS } from "./support/owasp_exceptions.ts";

/** What the rules find, once for each place of the file: where a component is used does not matter. */
async function findingsOf(api: string): Promise<string[]> {
  const document: object = documentOf(api);
  const spectral = new Spectral();
  spectral.setRuleset(owasp);
  const findings = (await spectral.run({ ...document })).map(({ code, path, message }) =>
    // Others are Spectral's own, such as a reference that leads nowhere: there are no exceptions from them.
    String(code).startsWith("owasp:")
      ? `${String(code).replace("owasp:", "")} ${api} ${placeOf(document, path)}`
      : `${code} ${api} ${path.join(" ")}: ${message}`,
  );
  return [...new Set(findings)];
}

/**
 * The words of a path in the file itself: in Spectral's paths, references are replaced by what they lead to. A parameter
 * has its name instead of its number.
 */
function placeOf(document: unknown, path: (string | number)[]): string {
  let place: string[] = [];
  let value = document;
  for (const word of path.map(String)) {
    value = (value as Record<string, unknown> | undefined)?.[word];
    const { $ref, name } = (value ?? {}) as { $ref?: unknown; name?: unknown };
    place.push(place.at(-1) === "parameters" ? String(name) : word);
    if (typeof $ref !== "string") continue;
    place = $ref
      .split("/")
      .slice(1)
      .map((each) => each.replaceAll("~1", "/").replaceAll("~0", "~"));
    value = place.reduce<unknown>((within, each) => (within as Record<string, unknown>)[each], document);
  }
  return place.join(" ");
}

/** `*` in a pattern is one word, or a part of one, and `**` is any words. */
function matches(finding: string, rule: string, pattern: string): boolean {
  const source = `${rule} ${pattern}`
    .replace(/[\\^$.+?()[\]{}|]/g, "\\$&")
    .replace(/\*+/g, (stars) => (stars === "*" ? "[^ ]*" : ".*"));
  return new RegExp(`^${source}$`).test(finding);
}

const findings = (await Promise.all(API_NAMES.map(findingsOf))).flat();

const isException = (finding: string) =>
  EXCEPTIONS.some(({ rule, where }) => where.some((pattern) => matches(finding, rule, pattern)));

describe("OWASP's rules for Spectral", () => {
  it("find nothing in the documents but the exceptions, each of which has its reason", () => {
    expect(findings.filter((finding) => !isException(finding))).toEqual([]);
  });

  it.each(EXCEPTIONS.flatMap(({ rule, where }) => where.map((pattern) => ({ rule, pattern }))))(
    "still find what is excepted: $rule at $pattern",
    ({ rule, pattern }) => {
      expect(findings.filter((finding) => matches(finding, rule, pattern))).not.toEqual([]);
    },
  );
});
