import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { idColumn, slugParts } from "../database/columns.ts";

/*
 * The directory (see src/directory). Only the first database uses these tables. In all others they are empty.
 */

/**
 * The database in which each organization lives. Organizations get their ids and slugs here. The place of a deleted organization
 * stays, with `deleted_at`, so that its slug is never given out again.
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
 * The databases, by the numbers of their bindings, and their ranges of ids: an id is `range * 2^32 + n`. No range is given out twice.
 * So ids of two databases never collide, and an organization keeps its ids when it moves. The database that it moves to gets a new
 * range, above all others, so that its next ids are higher. Until an organization moves to the first database, that database has no
 * row, and its range is 0.
 */
export const shards = sqliteTable("shards", {
  shard: integer().primaryKey(),
  range: integer().notNull().unique(),
});
