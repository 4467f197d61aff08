import { ApiError, invalidBody, invalidQuery, notFound, unprocessable } from "../../http/errors.ts";
import { MAX_RETENTION_DAYS } from "../../lifetimes.ts";
import { MAX_IDENTIFIER_SYSTEM_LENGTH, MAX_ORGANIZATION_SLUG_LENGTH } from "../../limits.ts";
import { grouped } from "../../units.ts";

export const organizationNotFound = () => notFound("Organization");

export const organizationSuspended = () =>
  new ApiError(
    403,
    "organization_suspended",
    "The organization is suspended: ask the people who run the service to resume it",
  );

const listOf = (regions: string[]) =>
  regions.length > 0
    ? `must be one of ${[...new Set(regions)].join(", ")}`
    : "must be left out: the service has no regions";

export const noSuchRegion = (regions: string[]) => invalidBody(`organization.region: ${listOf(regions)}`);

export const noRegionToList = (regions: string[]) => invalidQuery(`region: ${listOf(regions)}`);

export const NOT_AN_ORGANIZATION_SLUG = `must be 1 to ${MAX_ORGANIZATION_SLUG_LENGTH} characters of a-z and 0-9, with single hyphens between them`;

export const organizationSlugTaken = () =>
  unprocessable("slug_taken", "organization.slug: is taken; choose another one, or omit it");

export const ORGANIZATION_STAYS = {
  slug: "the slugs of the waiting rooms begin with it",
  region: "the people who run the service can move an organization to another region",
};

export const OWN_ORGANIZATION_STAYS = {
  ...ORGANIZATION_STAYS,
  app_url: "only the people who run the service can change the address of the web app",
  is_suspended: "only the people who run the service can suspend or resume an organization",
};

export const NOT_A_TIME_ZONE =
  "must be the name of an IANA time zone, such as Europe/Berlin, or null for UTC; an offset is not a time zone";

export const NOT_RETENTION_DAYS = `must be a whole number of days from 1 to ${grouped(MAX_RETENTION_DAYS)}, or null for no limit`;

export const NOT_AN_IDENTIFIER_SYSTEM = `must be a URI of up to ${MAX_IDENTIFIER_SYSTEM_LENGTH} characters, such as https://clinic.example/patients or urn:oid:2.999.1, or null for the default`;
