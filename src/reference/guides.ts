import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as lifetimes from "../lifetimes.ts";
import * as limits from "../limits.ts";
import * as units from "../units.ts";
import type { Api } from "./apis.ts";
import { guideBody } from "./guide_bodies.ts";
import { withPrograms } from "./guide_programs.ts";
import { GROUPS, type Group } from "./references.ts";

/*
 * The guides of the reference: Markdown files in `guides/<API>`, in the order of their names. They contain placeholders.
 *
 * `{{NAME}}` is a limit, a lifetime or a value of the build. It can be divided: `{{WEBHOOK_TIMEOUT / 1000}}`,
 * `{{EVENTS_KEPT_FOR / DAY}}`. Numbers are written with commas for thousands, unless `digits` follows the name.
 *
 * `{{response …}}` and `{{request …}}` become an example of an operation: its first one, or the one with the given name.
 * `{{response createInvite}}` becomes a block of JSON, and `{{response getTranscript as text/vtt}}` a block in another media type.
 * `{{request createUser: A provider}}` goes between the single quotes of a command, and `{{input …}}` into a here document, which
 * keeps secrets out of the arguments of processes.
 * `, user.email=EMAIL` at the end puts the shell variable EMAIL in place of that field.
 */

export const GUIDES = join(import.meta.dirname, "guides");
export const HOME = join(GUIDES, "home.md");

/** The paths of an API's guides, in order. Several APIs share some guides. */
export function guideFiles(api: Api): string[] {
  const own = readdirSync(join(GUIDES, api)).sort();
  const shared = ["error_codes.md", ...(api === "livekit" ? [] : ["versioning.md", "changelog.md"])];
  return [
    ...own.map((file) => join(GUIDES, api, file)),
    ...shared.map((file) => join(GUIDES, "shared", file)),
  ];
}

export type Values = Record<string, unknown>;

const FIRST_LINE = /^<!-- group: (.*?)(?:, words: (.*))? -->\n\n/;

/**
 * The guide's group in the navigation, and other words by which people search for it.
 *
 * @throws Error if the first line of the guide names no group
 */
export function firstLineOf(file: string): { group: Group; words: string } {
  const [, name, words = ""] = FIRST_LINE.exec(readFileSync(file, "utf8")) ?? [];
  const group = GROUPS.find((each) => each === name);
  if (!group) throw new Error(`${file} must begin with <!-- group: ${GROUPS.join(" | ")} -->`);
  return { group, words };
}

/**
 * A guide of an API as Markdown, with its placeholders filled in.
 *
 * @param values the values of the build, which override limits and lifetimes of the same name
 */
export function guideOf(api: Api, file: string, values: Values): string {
  return withPrograms(filledIn(file, values), api).trim();
}

/** The home page, without its title. */
export const homeOf = (values: Values): string => filledIn(HOME, values).trim();

const filledIn = (file: string, values: Values) =>
  fillIn(
    readFileSync(file, "utf8").replace(FIRST_LINE, ""),
    { ...units, ...limits, ...lifetimes, ...values },
    file,
  );

export const guidesOf = (api: Api, values: Values): string =>
  guideFiles(api)
    .map((file) => guideOf(api, file, values))
    .join("\n\n");

/** @throws Error if a value, an example or a field is unknown, or a quotient is not an integer */
export function fillIn(text: string, values: Values, file: string): string {
  return text.replace(/\{\{(.*?)\}\}/g, (placeholder, expression: string, offset: number) => {
    const where = `${file}: ${placeholder}`;
    const body = guideBody(expression, where);
    const [indentation = ""] = /^ */.exec(text.slice(text.lastIndexOf("\n", offset) + 1)) ?? [];
    if (body) return body.replaceAll("\n", `\n${indentation}`);
    const [, dividend = "", divisors = "", digits] = /^(\w+)((?: \/ \w+)*)( digits)?$/.exec(expression) ?? [];
    const value = values[dividend];
    if (typeof value === "string" && !divisors && !digits) return value;
    const quotient = divisors
      .split(" / ")
      .slice(1)
      .reduce((rest, divisor) => rest / Number(values[divisor] ?? divisor), Number(value));
    if (!Number.isSafeInteger(quotient)) throw new Error(`${where} is not known`);
    return digits ? String(quotient) : quotient.toLocaleString("en-US");
  });
}
