import { asc } from "drizzle-orm";
import type { Database } from "../database/database.ts";
import { hasValues } from "../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row, runFirst } from "../database/queries.ts";
import { listTotals, places } from "../database/schema.ts";
import { rowsBy, selectColumn } from "../database/selects.ts";
import { nextSlug } from "../database/slug.ts";
import { tableWrites } from "../database/table_writes.ts";
import { remember } from "../memory.ts";
import { MAX_REMEMBERED, PLACE_KNOWN_FOR } from "../tuning.ts";

/*
 * The directory: in which database each organization lives. A request names its organization, so this is all that several
 * databases have to look up. Only the first database has the table.
 */

const columns = { id: places.id, slug: places.slug, shard: places.shard };

export const placeWrites = tableWrites(places, columns, { slug: (of) => nextSlug(places, of("slug")) });

export const placeOfSlug = rowsBy(places, columns, "slug");

const placeOfId = rowsBy(places, columns, "id");

export const totalOfPlaces = preparedQuery((_: object) =>
  selectColumn(listTotals.total, hasValues(listTotals, { list: "organizations", owner_id: EVERYBODY })),
);

/** The `owner_id` of the total of all organizations. */
const EVERYBODY = 0;

export const pageOfPlaces = preparedQuery(
  ({ limit, offset }: Placeholders<{ limit: number; offset: number }>) =>
    builder.select(columns).from(places).orderBy(asc(places.id)).limit(limit).offset(offset),
);

export type Place = Row<typeof columns>;

/** How a request names its organization. */
export type OrganizationName = { id: number } | { slug: string };

/** By directory, where the organizations live that this isolate has looked up lately. */
const knownPlaces = new WeakMap<Database, Map<string, { shard: number; until: number }>>();

/** The shard in which an organization lives. For one that nobody knows it is the first, which has nothing of it. */
export async function shardOfOrganization(
  directory: Database,
  name: OrganizationName,
  now: number,
): Promise<number> {
  const place = knownPlaces.get(directory)?.get(JSON.stringify(name));
  if (place && place.until > now) return place.shard;
  const found = await runFirst(directory, "id" in name ? placeOfId(name) : placeOfSlug(name));
  if (!found) return 0;
  const { id, slug, shard } = found;
  for (const each of [{ id }, { slug }]) rememberPlace(directory, each, shard, now);
  return shard;
}

export function rememberPlace(directory: Database, name: OrganizationName, shard: number, now: number) {
  const memory = knownPlaces.get(directory) ?? new Map();
  knownPlaces.set(directory, memory);
  remember(memory, JSON.stringify(name), { shard, until: now + PLACE_KNOWN_FOR }, MAX_REMEMBERED);
}
