import * as z from "zod";
import { MAX_EMAIL_LENGTH, MAX_KEY_LENGTH, MAX_NAME_LENGTH } from "../limits.ts";

/** Wire shapes that several resources share. */

/**
 * Text that is not blank. Its length counts characters, not UTF-16 units.
 *
 * One check for everything: a transcript has thousands of texts, and each check of zod costs as much as its work.
 */
function nonBlank(
  schema: z.ZodString,
  max: number,
  isAllowed: (value: string) => boolean,
  otherwise: string,
) {
  return schema.check(({ value, issues }) => {
    const refuse = (message: string, isFinal = false) =>
      issues.push({ code: "custom", message, input: value, continue: !isFinal });
    if (value.trim() === "") refuse("must not be blank", true);
    else if (value.length > max && [...value].length > max) refuse(`must be at most ${max} characters long`);
    if (!isAllowed(value)) refuse(otherwise);
  });
}

const oneLine = (schema: z.ZodString, max: number) =>
  nonBlank(
    schema,
    max,
    (value) => value.isWellFormed() && !/\p{Cc}/u.test(value),
    "must be text without control characters",
  );

/** One line of text, trimmed. */
export const text = (max: number) => oneLine(z.string().trim(), max);

/** Text that may have several lines. It is stored exactly as it was sent. */
export const longText = (max: number) =>
  nonBlank(
    z.string(),
    max,
    (value) => value.isWellFormed() && !value.includes("\0"),
    "must be text without null characters",
  );

export const name = text(MAX_NAME_LENGTH);

/** A reporter's own key. It is compared exactly, without trimming. */
export const key = oneLine(z.string(), MAX_KEY_LENGTH);

/** What an email field of HTML accepts (WHATWG): people sign up elsewhere through such fields. Only ASCII. */
export const emailAddress = z.email({ pattern: z.regexes.html5Email, error: "must be an email address" });

/**
 * Emails are compared without case, so they are stored in lower case. Only ASCII passes, and that is checked before:
 * some other letters, such as the Kelvin sign, become ASCII in lower case, and so another person's email.
 */
export const email = z
  .string()
  .trim()
  .max(MAX_EMAIL_LENGTH, `must be at most ${MAX_EMAIL_LENGTH} characters long`)
  .pipe(emailAddress)
  .transform((address) => address.toLowerCase());

export const id = z.int().positive();

/** The id of a row, as text. */
export const idAsText = () =>
  z
    .string()
    .regex(/^[1-9]\d*$/, "must be a positive integer")
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER));

/** The id of a row, as a path parameter. The reference shows it as an integer. */
export const pathId = idAsText();

/** ISO 8601 writes the year with four digits. The day after a time must also have such a year. */
const EARLIEST = Date.parse("0000-01-01T00:00:00Z");
const LATEST = Date.parse("9999-12-30T00:00:00Z");

export const idParams = z.object({ id: pathId });

/** ISO 8601 with any offset (`Z`, `+01:00`, `+0100`, `+01`), with or without seconds. Becomes milliseconds since the epoch. */
export const instant = z
  .string()
  .transform((value) =>
    value
      .replace(/z$/, "Z")
      .replace(/([+-]\d\d)(?::?(\d\d))?$/, (_, hours, minutes = "00") => `${hours}:${minutes}`)
      .replace(/(T\d\d:\d\d)(?=[Z+-])/, "$1:00"),
  )
  .pipe(z.iso.datetime({ offset: true, error: "must be an ISO 8601 timestamp such as 2026-01-31T09:30:00Z" }))
  .transform((value) => Date.parse(value))
  .refine((time) => time >= EARLIEST && time < LATEST, "must be within the years 0000 to 9999");

/** The contract's timestamp: ISO 8601 in UTC with milliseconds. */
export const timestamp = (milliseconds: number): string => new Date(milliseconds).toISOString();

export const timestampOrNull = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : timestamp(milliseconds);

/** A calendar day in UTC, `YYYY-MM-DD`. */
export const day = z.iso.date("must be a date such as 2026-01-31");
