import { asc, eq, exists, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../../context.ts";
import {
  builder,
  namedQuery,
  type Placeholders,
  runBatch,
  runFirst,
  type Value,
} from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { organizations } from "../../database/schema.ts";
import { firstFreeSlug, kebabCase } from "../../database/slug.ts";
import { EVERYBODY, selectTotal, totalOf } from "../../database/totals.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { type Page, type PageQuery, type PageWindow, pageWindow, toPage } from "../../http/pagination.ts";
import { MAX_ORGANIZATION_SLUG_LENGTH } from "../../limits.ts";
import type {
  createOrganizationBody,
  Organization,
  updateOrganizationBody,
} from "./organizations.schemas.ts";
import { organizationColumns } from "./organizations.sql.ts";

/** All organizations of the service. */
export async function listOrganizations({ db }: Context, page: PageQuery): Promise<Page<Organization>> {
  const [[counted], items] = await runBatch(db, [
    totalOfOrganizations({}),
    pageOfOrganizations(pageWindow(page)),
  ]);
  return toPage(page, counted?.total ?? 0, items);
}

const totalOfOrganizations = namedQuery(() => selectTotal(totalOf("organizations", EVERYBODY)));

const pageOfOrganizations = namedQuery(({ limit, offset }: Placeholders<PageWindow>) =>
  builder
    .select(organizationColumns)
    .from(organizations)
    .orderBy(asc(organizations.id))
    .limit(limit)
    .offset(offset),
);

export async function requireOrganization({ db }: Context, id: number): Promise<Organization> {
  const organization = await runFirst(db, organizationById({ id }));
  if (!organization) throw notFound("Organization");
  return organization;
}

const organizationById = namedQuery(({ id }: Placeholders<{ id: number }>) =>
  builder.select(organizationColumns).from(organizations).where(eq(organizations.id, id)),
);

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
  rules: [
    {
      broken: isTaken(slug),
      refusal: () => unprocessable("organization.slug: is taken; choose another one, or leave it out"),
    },
  ],
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

/** The slug stays when the name changes: the slugs of the organization's rooms begin with it. */
export async function updateOrganization(
  { db, now }: Context,
  id: number,
  {
    name,
    recording_retention_days,
    transcript_retention_days,
  }: z.output<typeof updateOrganizationBody>["organization"],
): Promise<Organization> {
  const organization = await runFirst(
    db,
    updateById({
      id,
      name: name ?? null,
      recording_retention_days: recording_retention_days ?? null,
      sets_recording_retention: recording_retention_days !== undefined,
      transcript_retention_days: transcript_retention_days ?? null,
      sets_transcript_retention: transcript_retention_days !== undefined,
      now,
    }),
  );
  if (!organization) throw notFound("Organization");
  return organization;
}

/** A name of null stays as it is. Days of null, if they are set, are for good. */
interface OrganizationChange {
  id: number;
  name: string | null;
  recording_retention_days: number | null;
  sets_recording_retention: boolean;
  transcript_retention_days: number | null;
  sets_transcript_retention: boolean;
  now: number;
}

const updateById = namedQuery((change: Placeholders<OrganizationChange>) =>
  builder
    .update(organizations)
    .set({
      name: sql`coalesce(${change.name}, ${organizations.name})`,
      recording_retention_days: sql`iif(${change.sets_recording_retention},
        ${change.recording_retention_days}, ${organizations.recording_retention_days})`,
      transcript_retention_days: sql`iif(${change.sets_transcript_retention},
        ${change.transcript_retention_days}, ${organizations.transcript_retention_days})`,
      updated_at: sql`${change.now}`,
    })
    .where(eq(organizations.id, change.id))
    .returning(organizationColumns),
);
