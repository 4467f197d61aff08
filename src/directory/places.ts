import { and, asc, eq, inArray, isNull, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { listTotals } from "../database/database.table.ts";
import type { Database } from "../database/database.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Row,
  runFirst,
} from "../database/queries.ts";
import { rowsBy, rowsWhere } from "../database/selects.ts";
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

/** A JSON array of the shards to which a list is limited, or null for all. */
type Shards = { shards: string | null };

const isAmong = (shard: SQLWrapper, shards: Placeholders<Shards>["shards"]): SQL | undefined =>
  or(isNull(shards), inArray(shard, jsonValues(shards)));

export const totalOfPlaces = rowsWhere(
  listTotals,
  { total: sql<number>`coalesce(sum(${listTotals.total}), 0)`.as("total") },
  ({ shards }: Placeholders<Shards>) =>
    and(eq(listTotals.list, "organizations"), isAmong(listTotals.owner_id, shards)),
);

export interface PlacesWindow extends Shards {
  limit: number;
  offset: number;
}

/** Reads the places of other regions too: an index would cost each new organization more than the list costs now and then. */
export const selectPlaces = ({ limit, offset, shards }: Placeholders<PlacesWindow>) =>
  builder
    .select(columns)
    .from(places)
    .where(and(isNull(places.deleted_at), isAmong(places.shard, shards)))
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
