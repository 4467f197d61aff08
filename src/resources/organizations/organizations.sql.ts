import { eq, getTableColumns, notExists } from "drizzle-orm";
import { builder, type Value } from "../../database/queries.ts";
import type { Rule } from "../../database/rules.ts";
import { organizations } from "../../database/schema.ts";
import { notFound } from "../../http/errors.ts";

export const organizationColumns = getTableColumns(organizations);

/** For verbs whose path names an organization. */
export const organizationMissing = (id: Value<number>): Rule => ({
  broken: notExists(
    builder.select({ id: organizations.id }).from(organizations).where(eq(organizations.id, id)),
  ),
  refusal: () => notFound("Organization"),
});
