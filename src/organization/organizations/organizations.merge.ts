import type * as z from "zod";
import type { NewRow } from "../../database/insert.ts";
import { withoutUndefined } from "../../http/wire.ts";
import { MAX_MAIL_NAME_LENGTH } from "../../limits.ts";
import type { createOrganizationBody, updateOrganizationBody } from "./organizations.schemas.ts";
import type { organizations } from "./organizations.table.ts";

type OrganizationInput = z.output<ReturnType<typeof updateOrganizationBody>>["organization"];

type OrganizationRow = typeof organizations.$inferSelect;

export type NewOrganization = z.output<ReturnType<typeof createOrganizationBody>>["organization"];

export const newOrganization = (
  { name, time_zone = null }: NewOrganization,
  now: number,
): Omit<NewRow<typeof organizations>, "slug"> => ({
  name,
  mail_name: mailName(name),
  recording_retention_days: null,
  transcript_retention_days: null,
  participant_retention_days: null,
  require_acting_user: false,
  time_zone,
  patient_identifier_system: null,
  is_suspended: false,
  created_at: now,
  updated_at: now,
});

/** The slug stays, because the slugs of the organization's rooms begin with it. */
export function mergeOrganization(
  organization: OrganizationRow,
  input: OrganizationInput,
  now: number,
): OrganizationRow {
  return { ...organization, ...withoutUndefined(input), updated_at: now };
}

/** Mails show only the name that the platform chose. */
export const mergeOrganizationByPlatform: typeof mergeOrganization = (organization, input, now) => {
  const next = mergeOrganization(organization, input, now);
  return input.name === undefined ? next : { ...next, mail_name: mailName(input.name) };
};

/** On one line, at most 80 characters, without words that a mail client would turn into a link. Empty if nothing is left. */
export function mailName(name: string): string {
  const words = name
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    // Invisible characters could hide or reverse the text around the name. Persian and Hindi need the two joiners.
    .replace(/(?![\u200c\u200d])\p{Cf}/gu, "")
    .split(/\s+/)
    .filter((word) => !isAddress(word));
  const characters = [...words.join(" ").trim()];
  if (characters.length <= MAX_MAIL_NAME_LENGTH) return characters.join("");
  return `${characters
    .slice(0, MAX_MAIL_NAME_LENGTH - 1)
    .join("")
    .trimEnd()}…`;
}

/** Email addresses, network paths, anything with a scheme, domains (with a top level of two letters or more) and IPv4. */
const ADDRESS = /[@\\]|\p{L}:[^\s]|[.。][\p{L}\p{N}\p{M}]{2}|\d(\.\d+){3}/u;

/** Normalized first: mail clients treat full-width letters and dots as plain ones, and may skip joiners. */
const isAddress = (word: string) => ADDRESS.test(word.normalize("NFKC").replace(/[\u200c\u200d]/g, ""));
