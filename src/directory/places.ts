import { asc, isNull } from "drizzle-orm";
import { listTotals } from "../database/database.table.ts";
import type { Database } from "../database/database.ts";
import { hasValues } from "../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row, runFirst } from "../database/queries.ts";
import { rowsBy, selectColumn } from "../database/selects.ts";
import { nextSlug } from "../database/slug.ts";
import { tableWrites } from "../database/table_writes.ts";
import { remember } from "../memory.ts";
import { MAX_REMEMBERED, PLACE_KNOWN_FOR } from "../tuning.ts";
import { places } from "./directory.table.ts";

/* The database in which each organization lives: the only lookup that several databases need. */

const columns = { id: places.id, slug: places.slug, shard: places.shard, deleted_at: places.deleted_at };

export const placeWrites = tableWrites(places, columns, { slug: (of) => nextSlug(places, of("slug")) });

export const placeOfSlug = rowsBy(places, columns, "slug");

const placeOfId = rowsBy(places, columns, "id");

export const totalOfPlaces = preparedQuery((_: object) =>
  selectColumn(listTotals.total, hasValues(listTotals, { list: "organizations", owner_id: EVERYBODY })),
);

/** The `owner_id` under which the total of all organizations is stored. */
const EVERYBODY = 0;

export const selectPlaces = ({ limit, offset }: Placeholders<{ limit: number; offset: number }>) =>
  builder
    .select(columns)
    .from(places)
    .where(isNull(places.deleted_at))
    .orderBy(asc(places.id))
    .limit(limit)
    .offset(offset);

export const pageOfPlaces = preparedQuery(selectPlaces);

export type Place = Row<typeof columns>;

export type OrganizationName = { id: number } | { slug: string };

const knownPlaces = new WeakMap<Database, Map<string, { shard: number; until: number }>>();

/** For an unknown or deleted organization, the first shard, which has no data about it. */
export async function shardOfOrganization(directory: Database, name: OrganizationName, now: number) {
  const place = knownPlaces.get(directory)?.get(JSON.stringify(name));
  if (place && place.until > now) return place.shard;
  const found = await runFirst(directory, "id" in name ? placeOfId(name) : placeOfSlug(name));
  if (!found || found.deleted_at !== null) return 0;
  const { id, slug, shard } = found;
  const memory = knownPlaces.get(directory) ?? new Map();
  knownPlaces.set(directory, memory);
  for (const each of [{ id }, { slug }])
    remember(memory, JSON.stringify(each), { shard, until: now + PLACE_KNOWN_FOR }, MAX_REMEMBERED);
  return shard;
}

export function forgetPlace(directory: Database, name: OrganizationName) {
  knownPlaces.get(directory)?.delete(JSON.stringify(name));
}
