import { sql } from "drizzle-orm";
import { foreignKey, integer, type SQLiteColumn, text } from "drizzle-orm/sqlite-core";

/*
 * Times are integer milliseconds since the epoch. Every table with data of organizations references others by (organization_id,
 * id), so that no row can point into another organization. Triggers enforce the other rules.
 */

export const idColumn = () => integer().primaryKey({ autoIncrement: true });
export const timestamps = { created_at: integer().notNull(), updated_at: integer().notNull() };
export const parentId = (column: () => SQLiteColumn) => integer().notNull().references(column);

type OfOrganization = Record<"organization_id", SQLiteColumn>;

export const withinOrganization = (
  { organization_id }: OfOrganization,
  column: SQLiteColumn,
  neighbour: OfOrganization & Record<"id", SQLiteColumn>,
) =>
  foreignKey({
    columns: [organization_id, column],
    foreignColumns: [neighbour.organization_id, neighbour.id],
  });

const finalDigits = sql`substr(slug, length(rtrim(slug, '0123456789')) + 1)`;

/**
 * With an index on both, SQLite finds the highest number of a stem at once. `cardiology-3` has the stem `cardiology`. A slug
 * that does not end with a number from 2 to 999999 is its own stem, with number 1.
 */
export const slugParts = () => ({
  slug_number: integer()
    .notNull()
    .generatedAlwaysAs(
      sql`iif(rtrim(slug, '0123456789') glob '*-' and ${finalDigits} glob '[1-9]*' and length(${finalDigits}) < 7,
        cast(${finalDigits} as integer), 1)`,
    ),
  slug_stem: text()
    .notNull()
    .generatedAlwaysAs(
      sql`iif(slug_number = 1, slug, substr(slug, 1, length(slug) - length(slug_number) - 1))`,
    ),
});

/**
 * Decides when a result is deleted. Triggers copy both from the call (see retention.triggers.sql), so that an index finds the
 * rows to delete, without reading calls that are on hold or have no results left.
 */
export const retention = {
  call_ended_at: integer(),
  is_held: integer({ mode: "boolean" }).notNull().default(false),
};
