import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as lifetimes from "../lifetimes.ts";
import * as limits from "../limits.ts";
import * as units from "../units.ts";
import type { Api } from "./apis.ts";
import { guideBody } from "./guide_bodies.ts";
import { withPrograms } from "./guide_programs.ts";

/*
 * The guides of the reference: Markdown files in `guides/<API>`, one after the other. What changes stands in them as `{{NAME}}`: a limit, a lifetime or a value of the build, also divided (`{{WEBHOOK_TIMEOUT / 1000}}`,
 * `{{EVENTS_KEPT_FOR / DAY}}`). A number has commas for thousands, unless `digits` follows it.
 *
 * A body is an example of an operation: the first one, or that of a name. `{{response createInvite}}` is a block of JSON,
 * `{{response getTranscript as text/vtt}}` one of another media type;
 * `{{request createUser: A provider}}` is for the single quotes of a command, and `{{input …}}` for a here document, where
 * no process has a secret as an argument. After `, user.email=EMAIL`, the shell variable EMAIL is in the place of that field.
 */

export const GUIDES = join(import.meta.dirname, "guides");

/** The files of an API, in their order, by their paths. Some are the same for several APIs. */
export function guideFiles(api: Api): string[] {
  const own = readdirSync(join(GUIDES, api)).sort();
  const shared = api === "livekit" ? [] : ["versioning.md", "changelog.md"];
  return [
    ...own.map((file) => join(GUIDES, api, file)),
    ...shared.map((file) => join(GUIDES, "shared", file)),
  ];
}

export type Values = Record<string, unknown>;

/**
 * A guide of an API, as Markdown.
 *
 * @param values those of the build. They come before limits and lifetimes of the same name
 */
export function guideOf(api: Api, file: string, values: Values): string {
  const text = fillIn(readFileSync(file, "utf8"), { ...units, ...limits, ...lifetimes, ...values }, file);
  return (api === "external" ? withPrograms(text) : text).trim();
}

/** All guides of an API, one after the other. */
export const guidesOf = (api: Api, values: Values): string =>
  guideFiles(api)
    .map((file) => guideOf(api, file, values))
    .join("\n\n");

/** @throws Error if a value, an example or a field is unknown, or a quotient no integer */
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
