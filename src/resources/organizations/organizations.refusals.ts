import { notFound, unprocessable } from "../../http/errors.ts";
import { MAX_ORGANIZATION_SLUG_LENGTH, MAX_RETENTION_DAYS } from "../../limits.ts";

export const organizationNotFound = () => notFound("Organization");

/** Faults of a `slug` in a body. */
export const NOT_AN_ORGANIZATION_SLUG = `must be 1 to ${MAX_ORGANIZATION_SLUG_LENGTH} characters of a-z, 0-9 and -`;
export const TWO_HYPHENS = "must not contain --, which ends it in the slugs of waiting rooms";

export const organizationSlugTaken = () =>
  unprocessable("organization.slug: is taken; choose another one, or leave it out");

/** The fault of a number of days. */
export const NOT_RETENTION_DAYS = `must be a whole number of days from 1 to ${MAX_RETENTION_DAYS}, or null for good`;
