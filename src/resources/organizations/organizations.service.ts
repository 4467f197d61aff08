import { sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../../context.ts";
import { type Rule, writeUnderRules } from "../../database/legacy_rules.ts";
import { firstFreeSlug, kebabCase } from "../../database/legacy_slug.ts";
import { organizations } from "../../database/schema.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { MAX_ORGANIZATION_SLUG_LENGTH } from "../../limits.ts";
import type { createOrganizationBody } from "./organizations.schemas.ts";

/** Room for a numeric suffix within the length of a slug. */
const SUFFIX_LENGTH = 8;

export async function createOrganization(
  { db, now }: Context,
  { name, slug }: z.output<typeof createOrganizationBody>["organization"],
) {
  const base = kebabCase(name, "organization")
    .slice(0, MAX_ORGANIZATION_SLUG_LENGTH - SUFFIX_LENGTH)
    .replace(/-+$/, "");
  return writeUnderRules(
    db,
    [
      {
        broken: sql`exists (select 1 from organizations where slug = ${slug ?? null})`,
        error: unprocessable("organization.slug: is taken"),
      },
    ],
    [
      db
        .insert(organizations)
        .values({
          name,
          slug:
            slug ??
            firstFreeSlug(
              sql`${base}`,
              sql`exists (select 1 from organizations where slug = candidate.slug)`,
            ),
          created_at: now,
          updated_at: now,
        })
        .returning(),
    ],
  );
}

/** For verbs whose path names an organization. */
export const organizationMissing = (id: number): Rule => ({
  broken: sql`not exists (select 1 from organizations where id = ${id})`,
  error: notFound("Organization"),
});
