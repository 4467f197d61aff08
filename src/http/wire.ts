import * as z from "zod";
import { REPORT_CLOCK_TOLERANCE } from "../lifetimes.ts";
import * as limits from "../limits.ts";
import { lazily } from "../memory.ts";
import { grouped, SECOND } from "../units.ts";

/* Kinds of fields that several resources share, for requests, responses and the reference. */

const tooLong = (max: number) => `must be at most ${grouped(max)} characters long`;

/** Counts characters, not UTF-16 units, of which a character takes one or two. */
const isLongerThan = (max: number, value: string) =>
  value.length > max && (value.length > 2 * max || [...value].length > max);

const CONTROL = "\\x00-\\x1f\\x7f-\\x9f";
const NULL = "\\x00";

/** Characters that reorder the text around them: a name with one can look like another name. */
const REORDERING = "\\u202a-\\u202e\\u2066-\\u2069";
const REORDERS = new RegExp(`[${REORDERING}]`);

/** For the reference, so not specific to JavaScript. */
export const ONE_LINE = `^[^${CONTROL}]*$`;

/** A character that people can see: no space, control or format character, and no filler, which fonts show as a space. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\u115f\u1160\u2800\u3164\uffa0]/u;

/** `VISIBLE` for the reference: not every regular expression engine supports property escapes. */
const VISIBLE_CHARACTER = `[^\\s${CONTROL}\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u115f\\u1160\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]`;

/** Checks the length before the content. A single zod check, because a transcript has thousands of texts. */
function nonBlank(
  schema: z.ZodString,
  max: number,
  excluded: string,
  faultOfContent: (value: string) => string | undefined,
  canBeEmpty = false,
) {
  const pattern = `[^${excluded}]*${VISIBLE_CHARACTER}[^${excluded}]*`;
  function faultOf(value: string): string | undefined {
    if (canBeEmpty && value === "") return undefined;
    if (isLongerThan(max, value)) return tooLong(max);
    if (!VISIBLE.test(value)) return "must not be blank";
    return faultOfContent(value);
  }
  return schema
    .check(({ value, issues }) => {
      const message = faultOf(value);
      if (message) issues.push({ code: "custom", message, input: value, continue: false });
    })
    .meta({
      minLength: canBeEmpty ? 0 : 1,
      maxLength: max,
      pattern: canBeEmpty ? `^(${pattern})?$` : `^${pattern}$`,
    });
}

const faultOfLine = (value: string) =>
  value.isWellFormed() && !/\p{Cc}/u.test(value) ? undefined : "must be text without control characters";

const oneLine = (schema: z.ZodString, max: number) => nonBlank(schema, max, CONTROL, faultOfLine);

export const text = (max: number) => oneLine(z.string().trim(), max);

/** Stored exactly as sent. */
export const multilineText = (max: number, { canBeEmpty = false } = {}) =>
  nonBlank(
    z.string(),
    max,
    NULL,
    (value) =>
      value.isWellFormed() && !value.includes("\0") ? undefined : "must be text without null characters",
    canBeEmpty,
  );

export const name = lazily(() =>
  nonBlank(z.string().trim(), limits.MAX_NAME_LENGTH, CONTROL + REORDERING, (value) =>
    REORDERS.test(value)
      ? "must not have characters that change the direction of text (U+202A to U+202E, U+2066 to U+2069)"
      : faultOfLine(value),
  ),
);

export const themeName = () => text(limits.MAX_THEME_LENGTH);

/** A reporter's own key. It is compared exactly, without trimming. */
export const key = lazily(() => oneLine(z.string(), limits.MAX_KEY_LENGTH));

/** Another system's id of a visit or a person. It is opaque, so it is stored and compared exactly. */
export const externalReference = lazily(() => oneLine(z.string(), limits.MAX_EXTERNAL_REFERENCE_LENGTH));

/**
 * Like an HTML email field (WHATWG), ASCII only. `z.regexes` has it too, but would bring all of zod's patterns into the bundle.
 */
export const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

export const emailAddress = () => z.email({ pattern: EMAIL, error: "must be an email address" });

/** A URL as the reference documents it: browsers and the service accept URLs that the format `uri` does not. */
export const HTTP_URL = `^[Hh][Tt][Tt][Pp][Ss]?:[^${CONTROL}]*$`;

export const PRINTABLE_ASCII = /^[ -~]*$/;

export const printableAscii = (max: number) => z.string().min(1).max(max).regex(PRINTABLE_ASCII);

/** Text that is only compared with stored values: a code, a token, a slug. */
export const reference = (max: number) => z.string().max(max, tooLong(max));

/** An organization's slug. `--` follows it in its rooms' slugs, so it contains no `--`, and no hyphen at its ends. */
export const ORGANIZATION_SLUG = /^[a-z0-9](-?[a-z0-9])*$/;

export const roomSlug = () =>
  // Phones begin what people type with a capital letter.
  reference(limits.MAX_SLUG_LENGTH)
    .toLowerCase()
    .meta({ override: { pattern: "^[a-z0-9-]+$" } });

/** A name as compared without case, in any alphabet. SQLite's own functions handle only ASCII. */
export const withoutCase = (name: string): string => name.normalize().toUpperCase().toLowerCase();

/** Non-ASCII letters are refused before lower-casing: some, such as the Kelvin sign, would become another person's email. */
export const email = lazily(() =>
  z
    .string()
    .trim()
    .max(limits.MAX_EMAIL_LENGTH, { error: tooLong(limits.MAX_EMAIL_LENGTH), abort: true })
    .check(emailAddress())
    .toLowerCase()
    .meta({ override: { pattern: EMAIL.source } }),
);

export const id = () => z.int().positive();

export const visitId = () =>
  id().nullable().meta({
    description:
      "The planned visit whose link a participant used; for a call, the first such visit. null if there is none. See `GET /visits/{id}`.",
  });

/** Documents an integer in a URL, where it is text, as an integer. */
export const shownAsInteger = (minimum: number, others: object = {}) => ({
  override: { type: "integer" as const, minimum, pattern: undefined, maxLength: undefined, ...others },
});

export const idAsText = lazily(() =>
  reference(limits.MAX_INTEGER_LENGTH)
    .regex(/^[1-9]\d*$/, "must be a positive integer")
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER)),
);

export const pathId = lazily(() => idAsText().meta(shownAsInteger(1)));

const boolean = (fields: object) => ({ override: { type: "boolean" as const, enum: undefined, ...fields } });

const trueOrFalseText = () => z.enum(["true", "false"]);

export const trueOrFalse = () =>
  trueOrFalseText()
    .transform((value) => value === "true")
    .meta(boolean({}));

export const flag = () =>
  trueOrFalseText()
    .default("false")
    .transform((value) => value === "true")
    .meta(boolean({ default: false }));

/** ISO 8601 years have four digits. `LATEST` is early enough that the next day still has such a year. */
const EARLIEST = Date.parse("0000-01-01T00:00:00Z");
const LATEST = Date.parse("9999-12-30T00:00:00Z");

export const idParams = () => z.object({ id: pathId() });

export const organizationParams = () => z.object({ organization_id: pathId() });

export const ownParams = () => organizationParams().extend(idParams().shape);

export type OwnPath = z.output<ReturnType<typeof ownParams>>;

const SHOWN_AS_TIME = { override: { type: "string" as const, format: "date-time" } };

export const IN_FUTURE = `must not be more than ${REPORT_CLOCK_TOLERANCE / SECOND} seconds in the future`;

const NO_TIMESTAMP = "must be an ISO 8601 timestamp such as 2026-01-31T09:30:00Z";

/** ISO 8601 with any offset (`Z`, `+01:00`, `+0100`, `+01`), with or without seconds, as milliseconds since the epoch. */
export const instant = lazily(() =>
  z
    .string()
    .max(limits.MAX_TIMESTAMP_LENGTH, { error: NO_TIMESTAMP, abort: true })
    .transform((value) =>
      value
        .toUpperCase()
        .replace(/([+-]\d\d)(?::?(\d\d))?$/, (_, hours, minutes = "00") => `${hours}:${minutes}`)
        .replace(/(T\d\d:\d\d)(?=[Z+-])/, "$1:00"),
    )
    .pipe(z.iso.datetime({ offset: true, error: NO_TIMESTAMP }))
    .transform((value) => Date.parse(value))
    .refine((time) => time >= EARLIEST && time < LATEST, {
      error: "must be within the years 0000 to 9999",
      abort: true,
    })
    .meta(SHOWN_AS_TIME),
);

export const isPast = (time: number) => time <= Date.now() + REPORT_CLOCK_TOLERANCE;

/** The time of a past event. A time in 2099 would keep names and texts forever. */
export const pastInstant = () => instant().refine(isPast, IN_FUTURE).meta(SHOWN_AS_TIME);

/**
 * All errors of a very long list would take far more memory than the list. Checks of its elements must abort, or they do not
 * count. Further checks of the list must come before this one.
 */
export function upToFirstFault<List extends z.ZodArray>(list: List): List {
  const { run } = list._zod;
  list._zod.run = (payload, context) => run(payload, { ...context, abortEarly: true });
  return list;
}

export const distinct =
  <Name extends string, Item extends Record<Name, unknown>>(key: Name, message: string) =>
  ({ value, issues }: z.core.ParsePayload<Item[]>) => {
    const seen = new Set<unknown>();
    const at = value.findIndex((item) => seen.size === seen.add(item[key]).size);
    if (at >= 0) issues.push({ code: "custom", message, path: [at, key], input: value[at]?.[key] });
  };

/** Only the fields that a request contains: a missing field stays as it is. */
export const withoutUndefined = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]: Exclude<Fields[Name], undefined>;
  };

/** The contract's timestamp: ISO 8601 in UTC with milliseconds. */
export const toTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString();

export const toTimestampOrNull = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : toTimestamp(milliseconds);

export const timestamp = () => z.iso.datetime({ precision: 3 });

export const day = () => z.iso.date({ error: "must be a date such as 2026-01-31", abort: true });

export const count = () => z.int().min(0);

export const sha256 = () =>
  z
    .string()
    .length(64)
    .regex(/^[0-9a-f]+$/);

export const base64Url = (length: number) =>
  z
    .string()
    .length(length)
    .regex(/^[A-Za-z0-9_-]+$/);

export const emptyOr = (text: z.ZodString) => z.union([text, z.literal("")]);
