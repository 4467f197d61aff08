import type * as z from "zod";
import type { organizations } from "../../database/schema.ts";
import { withoutUndefined } from "../../http/wire.ts";
import type { updateOrganizationBody } from "./organizations.schemas.ts";

type OrganizationRow = typeof organizations.$inferSelect;

/** What a new organization has beside its place. */
export const newOrganization = (name: string, now: number) => ({ name, created_at: now, updated_at: now });

/** The slug stays when the name changes: the slugs of the organization's rooms begin with it. */
export const mergeOrganization = (
  organization: OrganizationRow,
  input: z.output<ReturnType<typeof updateOrganizationBody>>["organization"],
  now: number,
): OrganizationRow => ({ ...organization, ...withoutUndefined(input), updated_at: now });
