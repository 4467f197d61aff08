import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { idColumn, slugParts } from "../database/columns.ts";

/* Only the first database uses these tables. In all others they are empty. */

/**
 * The database of each organization, and where ids and slugs come from. A deleted organization keeps its slug, with
 * `deleted_at`.
 */
export const places = sqliteTable(
  "places",
  {
    id: idColumn(),
    slug: text().notNull().unique(),
    ...slugParts(),
    shard: integer().notNull(),
    deleted_at: integer(),
  },
  (t) => [index("places_by_stem").on(t.slug_stem, t.slug_number)],
);

/**
 * The ids of a database begin at `range * 2^32`. No range is given out twice, so an organization keeps its ids when it moves.
 * The database that it moves to gets a new range, above all others, so that its next ids are higher. Until an organization
 * moves to the first database, that database has no row, and its range is 0.
 */
export const shards = sqliteTable("shards", {
  shard: integer().primaryKey(),
  range: integer().notNull().unique(),
});
