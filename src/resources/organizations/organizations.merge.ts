import type * as z from "zod";
import type { organizations } from "../../database/schema.ts";
import { withoutUndefined } from "../../http/wire.ts";
import { organizationSlugTaken } from "./organizations.refusals.ts";
import type { updateOrganizationBody } from "./organizations.schemas.ts";

type OrganizationRow = typeof organizations.$inferSelect;

/** @throws ApiError 422 if the slug that was chosen is taken */
export function newOrganization(
  input: { name: string; slug: string; shard: number },
  isTaken: boolean,
  now: number,
): typeof organizations.$inferInsert {
  if (isTaken) throw organizationSlugTaken();
  return { ...input, created_at: now, updated_at: now };
}

/**
 * `updated_at` always rises, or the directory would take an older copy for a newer one: clocks differ, and what is decided again
 * has the time of its first attempt. The slug stays when the name changes: the slugs of the organization's rooms begin with it.
 */
export const mergeOrganization = (
  organization: OrganizationRow,
  input: z.output<typeof updateOrganizationBody>["organization"],
  now: number,
): OrganizationRow => ({
  ...organization,
  ...withoutUndefined(input),
  updated_at: Math.max(now, organization.updated_at + 1),
});
