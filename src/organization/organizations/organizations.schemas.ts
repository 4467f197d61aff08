import * as z from "zod";
import type { Context } from "../../context.ts";
import type { Row } from "../../database/queries.ts";
import { pageQuery } from "../../http/pagination.ts";
import { unchangeable } from "../../http/unchangeable.ts";
import { name, ORGANIZATION_SLUG, toTimestamp } from "../../http/wire.ts";
import { MAX_RETENTION_DAYS } from "../../lifetimes.ts";
import * as limits from "../../limits.ts";
import * as refusals from "./organizations.refusals.ts";
import type { organizationSchema, ownOrganizationSchema } from "./organizations.responses.ts";
import type { organizationColumns } from "./organizations.sql.ts";

const matching = (pattern: RegExp, longest: number, error: string, text = z.string()) =>
  text.max(longest, { error, abort: true }).regex(pattern, { error, abort: true });

export const organizationSlug = () =>
  matching(ORGANIZATION_SLUG, limits.MAX_ORGANIZATION_SLUG_LENGTH, refusals.NOT_AN_ORGANIZATION_SLUG);

export const retentionDays = () =>
  z
    .int({ error: refusals.NOT_RETENTION_DAYS, abort: true })
    .min(1, refusals.NOT_RETENTION_DAYS)
    .max(MAX_RETENTION_DAYS, refusals.NOT_RETENTION_DAYS)
    .nullable();

/** The service checks whether there is such a region. */
export const region = () => z.string().max(limits.MAX_REGION_LENGTH);

/** Without the short names, such as IST, that stand for several zones. */
const TIME_ZONE = /^(UTC|[A-Z][A-Za-z_]*(\/[A-Za-z0-9_+-]+)+)$/;

function isKnownTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}

export const timeZone = () =>
  matching(
    TIME_ZONE,
    limits.MAX_TIME_ZONE_LENGTH,
    refusals.NOT_A_TIME_ZONE,
    z.string(refusals.NOT_A_TIME_ZONE),
  )
    .refine(isKnownTimeZone, refusals.NOT_A_TIME_ZONE)
    .nullable();

/** A URI (RFC 3986) without the characters that separate values in FHIR's searches. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#@!&'()*+;=%-]+$/;

export const patientIdentifierSystem = () =>
  matching(URI, limits.MAX_IDENTIFIER_SYSTEM_LENGTH, refusals.NOT_AN_IDENTIFIER_SYSTEM).nullable();

export const createOrganizationBody = () =>
  z.object({
    organization: z.object({
      name: name(),
      slug: organizationSlug().optional(),
      region: region().optional(),
      time_zone: timeZone().optional(),
    }),
  });

export const organizationsQuery = () => pageQuery().extend({ region: region().optional() });

const changeableFields = () =>
  z
    .object({
      name: name(),
      recording_retention_days: retentionDays(),
      transcript_retention_days: retentionDays(),
      participant_retention_days: retentionDays(),
      require_acting_user: z.boolean(),
      time_zone: timeZone(),
      patient_identifier_system: patientIdentifierSystem(),
    })
    .partial();

export const updateOwnOrganizationBody = () =>
  z.object({ organization: changeableFields() }).register(unchangeable, refusals.OWN_ORGANIZATION_STAYS);

export const updateOrganizationBody = () =>
  z
    .object({ organization: changeableFields().extend({ is_suspended: z.boolean().optional() }) })
    .register(unchangeable, refusals.ORGANIZATION_STAYS);

export type Organization = Row<typeof organizationColumns>;

/** With the region of the database in which it lives. */
export type PlacedOrganization = Organization & { region: string | null };

export const toOrganization = (row: PlacedOrganization): z.input<typeof organizationSchema> => ({
  ...toSharedFields(row),
  is_suspended: row.is_suspended,
});

export const toOwnOrganization = (
  { settings }: Context,
  row: PlacedOrganization,
): z.input<typeof ownOrganizationSchema> => ({ ...toSharedFields(row), app_url: settings.APP_URL });

const toSharedFields = (row: PlacedOrganization) => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  recording_retention_days: row.recording_retention_days,
  transcript_retention_days: row.transcript_retention_days,
  participant_retention_days: row.participant_retention_days,
  require_acting_user: row.require_acting_user,
  region: row.region,
  time_zone: row.time_zone,
  patient_identifier_system: row.patient_identifier_system,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
});
