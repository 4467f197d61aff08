import { eq, type SQL } from "drizzle-orm";
import { type BoundQuery, builder, type Placeholders, preparedQuery } from "../database/queries.ts";
import {
  type LocationKind,
  type livekitEgresses,
  locations,
  organizations,
  shards,
} from "../database/schema.ts";
import { rangeOf } from "../database/shards.ts";
import type { Claim, ContestedClaim } from "./claims.ts";
import { isLocation } from "./claims.ts";

/*
 * Where things are, as the directory knows it. The statements of a place run in the first batch of the verb, as if what it
 * wants were in the directory's own database (see in_place.ts). So they cost no round trip where it is.
 */

/** How to find where something is. */
export interface Place {
  /** What the isolate remembers it by: each of them must be known, and in the same shard. */
  names: string[];
  /** Claims keys for an organization in another shard. Those that are new have the time of the request. */
  claims: BoundQuery<Claim>[];
  /** Selects the keys that are claimed by others. */
  contested: BoundQuery<ContestedClaim>[];
  /** Selects what waits in the directory for a report of the egress that names its call. */
  waiting: BoundQuery<WaitingEgress>[];
  find: BoundQuery<{ shard: number }>;
}

/** An egress of which LiveKit has spoken before anybody has reported its call. */
export type WaitingEgress = typeof livekitEgresses.$inferSelect;

const NO_CLAIMS = { claims: [], contested: [], waiting: [] };

/** The slug of an organization is what stands before the last `--` in that of a room: it may end with a hyphen itself. */
export const organizationSlugOf = (room_slug: string) =>
  room_slug.slice(0, Math.max(room_slug.lastIndexOf("--"), 0));

export const selectShard = (condition: SQL) =>
  builder.select({ shard: organizations.shard }).from(organizations).where(condition);

export const placeOfOrganization = (id: number): Place => ({
  names: [`organization:${id}`],
  ...NO_CLAIMS,
  find: shardOfOrganization({ id }),
});

const shardOfOrganization = preparedQuery(({ id }: Placeholders<{ id: number }>) =>
  selectShard(eq(organizations.id, id)),
);

export const placeOfRoom = (slug: string): Place => ({
  names: [`rooms:${organizationSlugOf(slug)}`],
  ...NO_CLAIMS,
  find: shardOfSlug({ slug: organizationSlugOf(slug) }),
});

const shardOfSlug = preparedQuery(({ slug }: Placeholders<{ slug: string }>) =>
  selectShard(eq(organizations.slug, slug)),
);

/**
 * Only the range of the id is known, which says where the row was made. That is where it is, until organizations can move: a
 * move then has to tell the directory which ranges of which shard went where.
 */
export const placeOfId = (id: number): Place => ({
  names: [`range:${rangeOf(id)}`],
  ...NO_CLAIMS,
  find: shardOfRange({ range: rangeOf(id) }),
});

const shardOfRange = preparedQuery(({ range }: Placeholders<{ range: number }>) =>
  builder.select({ shard: shards.shard }).from(shards).where(eq(shards.range, range)),
);

/** What an isolate remembers a key by. */
export const nameOfKey = (kind: LocationKind, key: string) => `${kind}:${key}`;

export const placeOfKey =
  (kind: LocationKind) =>
  (key: string): Place => ({ names: [nameOfKey(kind, key)], ...NO_CLAIMS, find: shardOfKey({ kind, key }) });

export const shardOfKey = preparedQuery(({ kind, key }: Placeholders<{ kind: LocationKind; key: string }>) =>
  builder
    .select({ shard: organizations.shard })
    .from(locations)
    .innerJoin(organizations, eq(organizations.id, locations.organization_id))
    .where(isLocation(kind, key)),
);
