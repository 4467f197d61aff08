import { asc, count, eq, getTableColumns, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Context } from "../../context.ts";
import {
  builder,
  type Placeholders,
  type PreparedQuery,
  preparedQuery,
  runBatch,
} from "../../database/queries.ts";
import { organizations } from "../../database/schema.ts";
import { nextSlug } from "../../database/slug.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { type Page, type PageQuery, type PageWindow, pageWindow, toPage } from "../../http/pagination.ts";
import { accessEntries } from "../access_logs/access_logs.entries.ts";
import { organizationNotFound } from "./organizations.refusals.ts";

export const organizationColumns = getTableColumns(organizations);

export const organizationWrites = tableWrites(organizations, organizationColumns, {
  slug: (of) => nextSlug(organizations, of("slug")),
});

const aboutOrganization = {
  organization_id: sql<number>`${organizations.id}`,
  resource_id: sql<number>`${organizations.id}`,
};

export const organizationEntry = accessEntries("organization", ({ id }: Placeholders<{ id: number }>) => ({
  ...aboutOrganization,
  from: sql`from ${organizations} where ${eq(organizations.id, id)}`,
}));

export const newOrganizationEntry = accessEntries("organization", (_: object) => ({
  ...aboutOrganization,
  from: sql`from ${organizations} where ${organizations.id} = (select max(${organizations.id}) from ${organizations})`,
}));

export const organizationRow = preparedQuery(({ id }: Placeholders<{ id: number }>) =>
  builder.select(organizationColumns).from(organizations).where(eq(organizations.id, id)),
);

/** For verbs whose path names an organization: nothing that can change. */
export const organizationById = preparedQuery(({ id }: Placeholders<{ id: number }>) =>
  builder.select({ id: organizations.id }).from(organizations).where(eq(organizations.id, id)),
);

export const organizationBySlug = preparedQuery(({ slug }: Placeholders<{ slug: string }>) =>
  builder.select({ id: organizations.id }).from(organizations).where(eq(organizations.slug, slug)),
);

/** Selects the name of an organization, for a column of what it has. */
export const nameOfOrganization = (id: SQLWrapper) =>
  builder.select({ name: organizations.name }).from(organizations).where(eq(organizations.id, id));

export const totalOfOrganizations = preparedQuery(() =>
  builder.select({ total: count().as("total") }).from(organizations),
);

export const pageOfOrganizations = preparedQuery(({ limit, offset }: Placeholders<PageWindow>) =>
  builder
    .select(organizationColumns)
    .from(organizations)
    .orderBy(asc(organizations.id))
    .limit(limit)
    .offset(offset),
);

/**
 * A verb that lists what an organization has, for the platform. The total comes from the organization's row, so that one
 * round trip also says whether there is such an organization.
 */
export function listOfOrganization<Item>(
  items: SQLiteTable & { organization_id: SQLiteColumn },
  pageOfItems: PreparedQuery<{ organization_id: number } & PageWindow, Item>,
) {
  const itemCount = builder
    .select({ count: count() })
    .from(items)
    .where(eq(items.organization_id, organizations.id));
  const totalOfItems = preparedQuery(({ organization_id }: Placeholders<{ organization_id: number }>) =>
    builder
      .select({ total: sql<number>`${itemCount}`.as("total") })
      .from(organizations)
      .where(eq(organizations.id, organization_id)),
  );
  return async ({ db }: Context, organization_id: number, page: PageQuery): Promise<Page<Item>> => {
    const [[counted], items] = await runBatch(db, [
      totalOfItems({ organization_id }),
      pageOfItems({ organization_id, ...pageWindow(page) }),
    ]);
    if (!counted) throw organizationNotFound();
    return toPage(page, counted.total, items);
  };
}
