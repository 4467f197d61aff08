import { eq, exists, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../../context.ts";
import { builder, type Placeholders, type Value } from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { organizations } from "../../database/schema.ts";
import { firstFreeSlug, kebabCase } from "../../database/slug.ts";
import { unprocessable } from "../../http/errors.ts";
import { MAX_ORGANIZATION_SLUG_LENGTH } from "../../limits.ts";
import type { createOrganizationBody, Organization } from "./organizations.schemas.ts";
import { organizationColumns } from "./organizations.sql.ts";

/** Room for a numeric suffix within the length of a slug. */
const SUFFIX_LENGTH = 8;

export async function createOrganization(
  { db, now }: Context,
  { name, slug }: z.output<typeof createOrganizationBody>["organization"],
): Promise<Organization> {
  const slug_name = kebabCase(name, "organization")
    .slice(0, MAX_ORGANIZATION_SLUG_LENGTH - SUFFIX_LENGTH)
    .replace(/-+$/, "");
  return insertOrganization(db, { name, slug: slug ?? null, slug_name, now });
}

/** A slug of null is made from the name. */
interface NewOrganization {
  name: string;
  slug: string | null;
  slug_name: string;
  now: number;
}

const insertOrganization = namedWrite(({ name, slug, slug_name, now }: Placeholders<NewOrganization>) => ({
  rules: [{ broken: isTaken(slug), refusal: () => unprocessable("organization.slug: is taken") }],
  statements: [
    builder
      .insert(organizations)
      .values({
        name,
        slug: sql`coalesce(${slug}, ${firstFreeSlug(slug_name, isTaken)})`,
        created_at: now,
        updated_at: now,
      })
      .returning(organizationColumns),
  ],
}));

const isTaken = (slug: Value<string>): SQL =>
  exists(builder.select({ id: organizations.id }).from(organizations).where(eq(organizations.slug, slug)));
