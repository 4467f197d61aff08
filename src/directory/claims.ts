import { and, eq, lt, ne, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { insertSelect } from "../database/insert.ts";
import {
  type BoundQuery,
  builder,
  type Placeholders,
  preparedQuery,
  type Value,
} from "../database/queries.ts";
import {
  calls,
  egresses,
  type LocationKind,
  locations,
  organizations,
  storageKeys,
} from "../database/schema.ts";

/*
 * The claims of keys in the directory: of calls, egresses and files of organizations in other shards.
 *
 * A claim goes to somebody else, or is dropped, only after its owner's shard was fenced: the key is written into `locations`
 * there, if nothing has it. Triggers then refuse a row that comes late, however late, and its request asks the directory
 * again.
 */

/** A key that an organization has claimed. */
export type Claim = typeof locations.$inferSelect;

/** One that is another organization's. */
export interface ContestedClaim extends Claim {
  /** The owner's. */
  shard: number;
  /** Who wants it now. */
  claimant_id: number;
  claimant_shard: number;
}

export const isLocation = (kind: Value<LocationKind>, key: Value<string>) =>
  and(eq(locations.kind, kind), eq(locations.key, key));

/** Inserts a claim of a key, for the organization that the condition is true for, unless the database itself has the key. */
const claim = (kind: LocationKind, key: Value<string>, now: Value<number>, isIts: SQL) =>
  insertSelect(
    locations,
    {
      kind: sql<LocationKind>`${sql.raw(`'${kind}'`)}`,
      key,
      organization_id: organizations.id,
      claimed_at: now,
    },
    sql`from ${organizations} where ${isIts} and ${hasNoHolder(kind, key)}`,
  );

/**
 * Claims a key for an organization in another shard than the first, whose own keys need no claim: nobody else gets them. A
 * claim that is made again is renewed, so it is never quite what another request has seen.
 */
export const claimFor = (kind: LocationKind, key: Value<string>, now: Value<number>, isIts: SQL) =>
  claim(kind, key, now, sql`${isIts} and ${ne(organizations.shard, 0)}`)
    .onConflictDoUpdate({
      target: [locations.kind, locations.key],
      set: { claimed_at: sql`max(${locations.claimed_at} + 1, ${now})` },
      setWhere: eq(locations.organization_id, sql`excluded.organization_id`),
    })
    .returning();

const hasNoHolder = (kind: LocationKind, key: Value<string>) => sql`not exists ${holderOf(kind, key)}`;

/** Selects the organization that has a key in the database that is asked. */
export const holderOf = (kind: LocationKind, key: Value<string>) => {
  const { table, column } = HOLDERS[kind];
  return builder.select({ id: table.organization_id }).from(table).where(eq(column, key));
};

/** What a key is claimed for. */
const HOLDERS = {
  call: { table: calls, column: calls.key },
  egress: { table: egresses, column: egresses.egress_id },
  file: { table: storageKeys, column: storageKeys.storage_key },
};

/** Selects the organization that has a key, or has claimed it. */
export const ownerOf = (kind: LocationKind, key: Value<string>): SQL => {
  const own = alias(locations, "own");
  const claimed = builder
    .select({ id: own.organization_id })
    .from(own)
    .where(and(eq(own.kind, kind), eq(own.key, key)));
  return sql`coalesce(${claimed}, ${holderOf(kind, key)})`;
};

export const claimants = alias(organizations, "claimants");

/** Selects a claim of a key that is not the claimant's. A claimant that is null is nobody. */
export const contestedBy = (kind: LocationKind, key: Value<string>, claimant: SQL) =>
  builder
    .select({
      kind: locations.kind,
      key: locations.key,
      organization_id: locations.organization_id,
      claimed_at: locations.claimed_at,
      shard: organizations.shard,
      claimant_id: sql<number>`${claimants.id}`.as("claimant_id"),
      claimant_shard: sql<number>`${claimants.shard}`.as("claimant_shard"),
    })
    .from(locations)
    .innerJoin(organizations, eq(organizations.id, locations.organization_id))
    .innerJoin(claimants, eq(claimants.id, claimant))
    .where(and(isLocation(kind, key), ne(locations.organization_id, claimants.id)));

/** True for the claim as it was seen. */
const isClaim = (claim: Placeholders<Claim>) =>
  and(
    isLocation(claim.kind, claim.key),
    eq(locations.organization_id, claim.organization_id),
    eq(locations.claimed_at, claim.claimed_at),
  );

export const takeClaim = preparedQuery((claim: Placeholders<ContestedClaim & { now: number }>) =>
  builder
    .update(locations)
    .set({ organization_id: sql`${claim.claimant_id}`, claimed_at: sql`${claim.now}` })
    .where(isClaim(claim)),
);

export const dropClaim = preparedQuery((claim: Placeholders<Claim>) =>
  builder.delete(locations).where(isClaim(claim)),
);

/**
 * Fences the shard of the owner, unless something has the key there. The fence has the time of the claim that it ends.
 *
 * @returns the key, if there is a fence now
 */
export const fence = Object.fromEntries(
  (["call", "egress", "file"] as const).map((kind) => [
    kind,
    preparedQuery(({ key, organization_id, claimed_at }: Placeholders<Claim>) =>
      claim(kind, key, claimed_at, eq(organizations.id, organization_id))
        .onConflictDoUpdate({
          target: [locations.kind, locations.key],
          set: { claimed_at: sql`max(${locations.claimed_at}, ${claimed_at})` },
        })
        .returning({ key: locations.key }),
    ),
  ]),
) as Record<LocationKind, (values: Claim) => BoundQuery<{ key: string }>>;

/** For the owner of the claim. The fence of a later claim, or of this very one, stays: the claim is over. */
export const takeFenceAway = preparedQuery(({ kind, key, claimed_at }: Placeholders<Claim>) =>
  builder.delete(locations).where(and(isLocation(kind, key), lt(locations.claimed_at, claimed_at))),
);
