import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as limits from "../limits.ts";

/*
 * The guides in the introductions of the documents: Markdown files in `guides/<door>`, one after the other. What changes
 * stands in them as `{{NAME}}`: a limit of limits.ts or a value of the build, also divided (`{{WEBHOOK_TIMEOUT / 1000}}`,
 * `{{EVENTS_KEPT_FOR / DAY}}`). A number has commas for thousands, unless `digits` follows it.
 */

export const GUIDES = join(import.meta.dirname, "guides");

/** The files of a door, in their order, by their paths. Some are the same for several doors. */
export function guideFiles(door: string): string[] {
  const own = readdirSync(join(GUIDES, door)).sort();
  const shared = door === "livekit" ? [] : ["versioning.md", "changelog.md"];
  return [
    ...own.map((file) => join(GUIDES, door, file)),
    ...shared.map((file) => join(GUIDES, "shared", file)),
  ];
}

type Values = Record<string, unknown>;

/** @param values those of the build. They come before limits of the same name */
export function guidesOf(door: string, values: Values): string {
  return guideFiles(door)
    .map((file) => fillIn(readFileSync(file, "utf8").trim(), { ...limits, ...values }, file))
    .join("\n\n");
}

/** @throws Error if a value is unknown, or a quotient no integer */
export function fillIn(text: string, values: Values, file: string): string {
  return text.replace(/\{\{(.*?)\}\}/g, (_, expression: string) => {
    const [, dividend = "", divisors = "", digits] = /^(\w+)((?: \/ \w+)*)( digits)?$/.exec(expression) ?? [];
    const value = values[dividend];
    if (typeof value === "string" && !divisors && !digits) return value;
    const quotient = divisors
      .split(" / ")
      .slice(1)
      .reduce((rest, divisor) => rest / Number(values[divisor] ?? divisor), Number(value));
    if (!Number.isSafeInteger(quotient)) throw new Error(`${file}: {{${expression}}} is not known`);
    return digits ? String(quotient) : quotient.toLocaleString("en-US");
  });
}
