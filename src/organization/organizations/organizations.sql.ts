import {
  asc,
  desc,
  eq,
  getTableColumns,
  getTableName,
  inArray,
  notExists,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import type { Context } from "../../context.ts";
import { scalar } from "../../database/expressions.ts";
import { insertSelect, type NewRow, valuesFor } from "../../database/insert.ts";
import { builder, jsonValues, type Placeholders, preparedQuery, runBatch } from "../../database/queries.ts";
import { isNewest, rowsBy, rowsWhere, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { totalOf } from "../../database/totals.ts";
import { places } from "../../directory/directory.table.ts";
import { type PlacesWindow, selectPlaces } from "../../directory/places.ts";
import { pagedList } from "../../http/lists.ts";
import { type PageQuery, pageWindow, toPage } from "../../http/pagination.ts";
import type { apiClients } from "../api_clients/api_clients.table.ts";
import type { issuers } from "../issuers/issuers.table.ts";
import type { organizationUsers } from "../members/organization_users.table.ts";
import { organizationNotFound } from "./organizations.refusals.ts";
import { organizations } from "./organizations.table.ts";

export const organizationColumns = getTableColumns(organizations);

export const organizationWrites = tableWrites(organizations, organizationColumns);

/** With the id and slug of the place that the same transaction has just inserted. */
export const insertAtNewestPlace = preparedQuery(
  (organization: Placeholders<Omit<NewRow<typeof organizations>, "slug">>) => {
    const newest = builder
      .select({ id: places.id, slug: places.slug })
      .from(places)
      .orderBy(desc(places.id))
      .limit(1)
      .as("newest");
    return insertSelect(
      organizations,
      { ...valuesFor(organizations, organization), id: newest.id, slug: newest.slug },
      { from: newest },
    ).returning(organizationColumns);
  },
);

const organizationEntries = entriesWhere("organization", organizations, {
  organization_id: organizations.id,
});

export const organizationEntry = organizationEntries(({ id }: Placeholders<{ id: number }>) =>
  eq(organizations.id, id),
);

export const newestOrganizationEntry = organizationEntries((_: object) => isNewest(organizations));

export const organizationRow = rowsBy(organizations, organizationColumns, "id");

export const timeZoneOf = rowsBy(organizations, { time_zone: organizations.time_zone }, "id");

export const suspensionOf = rowsBy(organizations, { is_suspended: organizations.is_suspended }, "id");

/** A suspended organization's webhooks, mails and rows of bulk invites wait. */
export const isServed = (organization_id: SQLWrapper): SQL =>
  notExists(
    selectColumn(organizations.id, eq(organizations.id, organization_id), organizations.is_suspended),
  );

export const isSuspended = (organization_id: SQLWrapper) =>
  scalar(selectColumn(organizations.is_suspended, eq(organizations.id, organization_id)))
    .mapWith(Boolean)
    .as("is_suspended");

/** Only columns that never change, so that a read of them never causes a write conflict. */
const fixedColumns = { id: organizations.id, slug: organizations.slug };

export const organizationById = rowsBy(organizations, fixedColumns, "id");

export const organizationBySlug = rowsBy(organizations, fixedColumns, "slug");

export const nameOfOrganization = (id: SQLWrapper) =>
  sql<string>`${selectColumn(organizations.name, eq(organizations.id, id))}`;

export const mailNameOfOrganization = (id: SQLWrapper) =>
  sql<string>`${selectColumn(organizations.mail_name, eq(organizations.id, id))}`;

/** In the directory's own database. Places decide: an organization that moved away has left its row. */
export const organizationsOfPage = preparedQuery((window: Placeholders<PlacesWindow>) => {
  const page = selectPlaces(window).as("page");
  return builder
    .select(organizationColumns)
    .from(organizations)
    .where(inArray(organizations.id, builder.select({ id: page.id }).from(page).where(eq(page.shard, 0))));
});

/** `ids` is a JSON array. */
export const organizationsAmong = rowsWhere(
  organizations,
  organizationColumns,
  ({ ids }: Placeholders<{ ids: string }>) => inArray(organizations.id, jsonValues(ids)),
);

/** The total comes from the organization's row, so that the same round trip also shows whether the organization exists. */
export function listOfOrganization<Columns extends Record<string, SQLiteColumn | SQL.Aliased>>(
  items: typeof organizationUsers | typeof apiClients | typeof issuers,
  columns: Columns,
) {
  type Owner = { organization_id: number };
  const total = rowsWhere(
    organizations,
    { total: totalOf(getTableName(items), organizations.id).as("total") },
    ({ organization_id }: Placeholders<Owner>) => eq(organizations.id, organization_id),
  );
  const { page } = pagedList(items, columns, [asc(items.id)], ({ organization_id }: Placeholders<Owner>) =>
    eq(items.organization_id, organization_id),
  );
  return async ({ db }: Context, organization_id: number, query: PageQuery) => {
    const [[counted], rows] = await runBatch(db, [
      total({ organization_id }),
      page({ organization_id, ...pageWindow(query) }),
    ]);
    if (!counted) throw organizationNotFound();
    return toPage(query, counted.total, rows);
  };
}
