import * as z from "zod";
import { emailAddress, MANY_LINES, ONE_LINE } from "../http/wire.ts";
import {
  MAX_EMAIL_LENGTH,
  MAX_EXTERNAL_REFERENCE_LENGTH,
  MAX_KEY_LENGTH,
  MAX_NAME_LENGTH,
  MAX_SLUG_LENGTH,
} from "../limits.ts";

/*
 * What the fields of responses look like, with the limits that the service keeps when it writes them. Nothing validates a
 * response with them but tests: they are for the documents and for types. Each is a new schema, so that it can get a
 * description of its own.
 */

export const id = () => z.int().min(1);

export const count = () => z.int().min(0);

/** One line of text, such as a name. */
export const line = (max: number = MAX_NAME_LENGTH) => z.string().max(max).regex(new RegExp(ONE_LINE));

/** Text that may have several lines. */
export const longText = (max: number) => z.string().max(max).regex(new RegExp(MANY_LINES));

/** A reporter's own key. */
export const key = () => line(MAX_KEY_LENGTH).min(1);

/** By which another system knows a visit or a person. */
export const externalReference = () => line(MAX_EXTERNAL_REFERENCE_LENGTH).min(1);

export const email = () => emailAddress.max(MAX_EMAIL_LENGTH);

/** The slug of a waiting room. */
export const roomSlug = () =>
  z
    .string()
    .max(MAX_SLUG_LENGTH)
    .regex(/^[a-z0-9-]+$/);

/** ISO 8601 in UTC with milliseconds. */
export const timestamp = () => z.iso.datetime({ precision: 3 });

/** A calendar day in UTC. */
export const date = () => z.iso.date();

/** A SHA-256 in hex. */
export const sha256 = () =>
  z
    .string()
    .length(64)
    .regex(/^[0-9a-f]+$/);

/** Letters, digits, `-` and `_`: base64url. */
export const base64Url = (length: number) =>
  z
    .string()
    .length(length)
    .regex(/^[A-Za-z0-9_-]+$/);
