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
import type { Claim, Contested } from "./claims.ts";
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
  contested: BoundQuery<Contested>[];
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

export const shardOf = (condition: SQL) =>
  builder.select({ shard: organizations.shard }).from(organizations).where(condition);

export const placeOfOrganization = (id: number): Place => ({
  names: [`organization:${id}`],
  ...NO_CLAIMS,
  find: shardOfOrganization({ id }),
});

const shardOfOrganization = preparedQuery(({ id }: Placeholders<{ id: number }>) =>
  shardOf(eq(organizations.id, id)),
);

export const placeOfRoom = (slug: string): Place => ({
  names: [`rooms:${organizationSlugOf(slug)}`],
  ...NO_CLAIMS,
  find: shardOfSlug({ slug: organizationSlugOf(slug) }),
});

const shardOfSlug = preparedQuery(({ slug }: Placeholders<{ slug: string }>) =>
  shardOf(eq(organizations.slug, slug)),
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

export const placeOfCall = (key: string): Place => ({
  names: [`call:${key}`],
  ...NO_CLAIMS,
  find: shardOfKey({ kind: "call", key }),
});

export const placeOfEgress = (key: string): Place => ({
  names: [`egress:${key}`],
  ...NO_CLAIMS,
  find: shardOfKey({ kind: "egress", key }),
});

export const shardOfKey = preparedQuery(({ kind, key }: Placeholders<{ kind: LocationKind; key: string }>) =>
  builder
    .select({ shard: organizations.shard })
    .from(locations)
    .innerJoin(organizations, eq(organizations.id, locations.organization_id))
    .where(isLocation(kind, key)),
);
