import { and, eq, ne, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
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
import { CLAIM_KEPT_FOR } from "../limits.ts";

/* The claims of keys in the directory: of calls, egresses and files of organizations in other shards. */

/** A key that an organization has claimed. */
export type Claim = typeof locations.$inferSelect;

/** One that is another organization's. */
export interface Contested extends Claim {
  /** The owner's. */
  shard: number;
  /** Who wants it now. */
  claimant_id: number;
  claimant_shard: number;
}

export const isLocation = (kind: Value<LocationKind>, key: Value<string>) =>
  and(eq(locations.kind, kind), eq(locations.key, key));

/** A claim that is made again is renewed, unless that was done lately. The millisecond tells it from a new one. */
export const renewed = (now: Value<number>) => ({
  target: [locations.kind, locations.key],
  set: { claimed_at: sql`${now} - 1` },
  setWhere: and(
    eq(locations.organization_id, sql`excluded.organization_id`),
    sql`${locations.claimed_at} < ${now} - ${sql.raw(String(CLAIM_KEPT_FOR / 2))}`,
  ),
});

/** Keys that calls, egresses and files of the first database have need no claim: nobody else gets them. */
export const unlessOwn = (table: typeof calls | typeof egresses | typeof storageKeys, condition: SQL) =>
  sql`not exists (select 1 from ${table} where ${condition})`;

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

export const takeClaim = preparedQuery((claim: Placeholders<Contested & { now: number }>) =>
  builder
    .update(locations)
    .set({ organization_id: sql`${claim.claimant_id}`, claimed_at: sql`${claim.now}` })
    .where(isClaim(claim)),
);

export const dropClaim = preparedQuery((claim: Placeholders<Claim>) =>
  builder.delete(locations).where(isClaim(claim)),
);

/** Finds, in the shard of the owner, what a key was claimed for. */
export const ownersRow: Record<LocationKind, (values: { key: string }) => BoundQuery<unknown>> = {
  call: preparedQuery(({ key }: Placeholders<{ key: string }>) =>
    builder.select({ id: calls.id }).from(calls).where(eq(calls.key, key)),
  ),
  egress: preparedQuery(({ key }: Placeholders<{ key: string }>) =>
    builder.select({ id: egresses.id }).from(egresses).where(eq(egresses.egress_id, key)),
  ),
  file: preparedQuery(({ key }: Placeholders<{ key: string }>) =>
    builder
      .select({ organization_id: storageKeys.organization_id })
      .from(storageKeys)
      .where(eq(storageKeys.storage_key, key)),
  ),
};
