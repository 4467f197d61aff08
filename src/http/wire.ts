import * as z from "zod";
import { REPORT_CLOCK_TOLERANCE } from "../lifetimes.ts";
import {
  MAX_EMAIL_LENGTH,
  MAX_EXTERNAL_REFERENCE_LENGTH,
  MAX_INTEGER_LENGTH,
  MAX_KEY_LENGTH,
  MAX_NAME_LENGTH,
  MAX_SLUG_LENGTH,
  MAX_THEME_LENGTH,
  MAX_TIMESTAMP_LENGTH,
} from "../limits.ts";
import { lazily } from "../memory.ts";
import { SECOND } from "../units.ts";

/*
 * The kinds of fields that several resources have, each with its limits: requests, responses and the reference take them from
 * here. What only one resource has is in its `.fields.ts`.
 */

const tooLong = (max: number) => `must be at most ${max} characters long`;

/** Characters, not UTF-16 units, of which a character has one or two. */
const isLongerThan = (max: number, value: string) =>
  value.length > max && (value.length > 2 * max || [...value].length > max);

const CONTROL = "\\x00-\\x1f\\x7f-\\x9f";
const NULL = "\\x00";

/** What the documents say of the characters of a text: no control characters. Not only JavaScript understands it. */
export const ONE_LINE = `^[^${CONTROL}]*$`;

/**
 * Text that is not blank. Its length is checked before its content.
 *
 * One check for everything: a transcript has thousands of texts, and each check of zod costs as much as its work.
 */
function nonBlank(
  schema: z.ZodString,
  max: number,
  excluded: string,
  isAllowed: (value: string) => boolean,
  otherwise: string,
) {
  function faultOf(value: string): string | undefined {
    if (value.trim() === "") return "must not be blank";
    if (isLongerThan(max, value)) return tooLong(max);
    return isAllowed(value) ? undefined : otherwise;
  }
  return schema
    .check(({ value, issues }) => {
      const message = faultOf(value);
      if (message) issues.push({ code: "custom", message, input: value, continue: false });
    })
    .meta({ minLength: 1, maxLength: max, pattern: `^[^${excluded}]*[^${excluded}\\s][^${excluded}]*$` });
}

const oneLine = (schema: z.ZodString, max: number) =>
  nonBlank(
    schema,
    max,
    CONTROL,
    (value) => value.isWellFormed() && !/\p{Cc}/u.test(value),
    "must be text without control characters",
  );

/** One line of text, trimmed. */
export const text = (max: number) => oneLine(z.string().trim(), max);

/** Text that may have several lines. It is stored exactly as it was sent. */
export const multilineText = (max: number) =>
  nonBlank(
    z.string(),
    max,
    NULL,
    (value) => value.isWellFormed() && !value.includes("\0"),
    "must be text without null characters",
  );

export const name = lazily(() => text(MAX_NAME_LENGTH));

export const themeName = lazily(() => text(MAX_THEME_LENGTH));

/** A reporter's own key. It is compared exactly, without trimming. */
export const key = lazily(() => oneLine(z.string(), MAX_KEY_LENGTH));

/** By which another system knows a visit or a person. It is opaque, so it is stored and compared exactly. */
export const externalReference = lazily(() => oneLine(z.string(), MAX_EXTERNAL_REFERENCE_LENGTH));

/** What an email field of HTML accepts (WHATWG): people sign up elsewhere through such fields. Only ASCII. */
export const emailAddress = lazily(() =>
  z.email({ pattern: z.regexes.html5Email, error: "must be an email address" }),
);

/** What the documents say of a URL: browsers and the service know more of them than the format `uri`. */
export const HTTP_URL = `^[Hh][Tt][Tt][Pp][Ss]?:[^${CONTROL}]*$`;

export const PRINTABLE_ASCII = /^[ -~]*$/;

/** What a header carries whatever sends it. */
export const printableAscii = (max: number) => z.string().min(1).max(max).regex(PRINTABLE_ASCII);

/** Text that is only compared with what the service has: a code, a token, a slug. */
export const reference = (max: number) => z.string().max(max, tooLong(max));

/** The slug of an organization. It has no `--`, which follows it in the slugs of its rooms, and so no hyphen at its ends. */
export const ORGANIZATION_SLUG = /^[a-z0-9](-?[a-z0-9])*$/;

/** The slug of a waiting room. */
export const roomSlug = lazily(() =>
  reference(MAX_SLUG_LENGTH).meta({ override: { pattern: "^[a-z0-9-]+$" } }),
);

/**
 * Emails are compared without case, so they are stored in lower case. Only ASCII passes, and that is checked before:
 * some other letters, such as the Kelvin sign, become ASCII in lower case, and so another person's email.
 */
export const email = lazily(() =>
  z
    .string()
    .trim()
    .max(MAX_EMAIL_LENGTH, { error: tooLong(MAX_EMAIL_LENGTH), abort: true })
    .check(emailAddress())
    .toLowerCase()
    .meta({ override: { pattern: z.regexes.html5Email.source } }),
);

export const id = lazily(() => z.int().positive());

/** Where somebody came by the link of a visit. */
export const visitId = lazily(() =>
  id().nullable().meta({
    description:
      "The planned visit by whose link a participant came: of a call, the first of them. null without one. See `GET /visits/{id}`.",
  }),
);

/** How the reference shows an integer in a URL, which is text there. */
export const shownAsInteger = (minimum: number, others: object = {}) => ({
  override: { type: "integer" as const, minimum, pattern: undefined, maxLength: undefined, ...others },
});

/** The id of a row, as text. */
export const idAsText = lazily(() =>
  reference(MAX_INTEGER_LENGTH)
    .regex(/^[1-9]\d*$/, "must be a positive integer")
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER)),
);

/** The same, as a parameter. */
export const pathId = lazily(() => idAsText().meta(shownAsInteger(1)));

/** A parameter of a query that is true or false, and false where it is left out. */
export const flag = lazily(() =>
  z
    .enum(["true", "false"])
    .default("false")
    .transform((value) => value === "true")
    .meta({ override: { type: "boolean" as const, enum: undefined, default: false } }),
);

/** ISO 8601 writes the year with four digits. The day after a time must also have such a year. */
const EARLIEST = Date.parse("0000-01-01T00:00:00Z");
const LATEST = Date.parse("9999-12-30T00:00:00Z");

export const idParams = lazily(() => z.object({ id: pathId() }));

/** For paths below an organization, and those that name something of it. */
export const organizationParams = lazily(() => z.object({ organization_id: pathId() }));

export const ownParams = lazily(() => organizationParams().extend(idParams().shape));

export type OwnPath = z.output<ReturnType<typeof ownParams>>;

const SHOWN_AS_TIME = { override: { type: "string" as const, format: "date-time" } };

const IN_FUTURE = `must not be more than ${REPORT_CLOCK_TOLERANCE / SECOND} seconds in the future`;

const NO_TIMESTAMP = "must be an ISO 8601 timestamp such as 2026-01-31T09:30:00Z";

/** ISO 8601 with any offset (`Z`, `+01:00`, `+0100`, `+01`), with or without seconds. Becomes milliseconds since the epoch. */
export const instant = lazily(() =>
  z
    .string()
    .max(MAX_TIMESTAMP_LENGTH, { error: NO_TIMESTAMP, abort: true })
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

/** The time of what has happened. What was in 2099 would keep names and texts for good. */
export const pastInstant = lazily(() =>
  instant()
    .refine((time) => time <= Date.now() + REPORT_CLOCK_TOLERANCE, IN_FUTURE)
    .meta(SHOWN_AS_TIME),
);

/**
 * Validates a list up to its first fault: the faults of a very long list would take far more memory than the list.
 * Checks of its elements must abort, or they do not count. Further checks of the list come before it.
 */
export function upToFirstFault<List extends z.ZodArray>(list: List): List {
  const { run } = list._zod;
  list._zod.run = (payload, context) => run(payload, { ...context, abortEarly: true });
  return list;
}

/** Only the fields that a request gives: a field left out stays as it is. */
export const withoutUndefined = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]: Exclude<Fields[Name], undefined>;
  };

/** The contract's timestamp: ISO 8601 in UTC with milliseconds. */
export const toTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString();

export const toTimestampOrNull = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : toTimestamp(milliseconds);

/** The contract's timestamp in a response. */
export const timestamp = lazily(() => z.iso.datetime({ precision: 3 }));

/** A calendar day in UTC, `YYYY-MM-DD`. */
export const day = lazily(() => z.iso.date({ error: "must be a date such as 2026-01-31", abort: true }));

export const count = lazily(() => z.int().min(0));

/** A SHA-256 in hex. */
export const sha256 = lazily(() =>
  z
    .string()
    .length(64)
    .regex(/^[0-9a-f]+$/),
);

/** Letters, digits, `-` and `_`. */
export const base64Url = (length: number) =>
  z
    .string()
    .length(length)
    .regex(/^[A-Za-z0-9_-]+$/);

/** Where nothing is known, the text is empty. */
export const emptyOr = (text: z.ZodString) => z.union([text, z.literal("")]);
