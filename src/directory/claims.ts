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
import { CLAIM_KEPT_FOR } from "../limits.ts";

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
export interface Contested extends Claim {
  /** The owner's. */
  shard: number;
  /** Who wants it now. */
  claimant_id: number;
  claimant_shard: number;
}

export const isLocation = (kind: Value<LocationKind>, key: Value<string>) =>
  and(eq(locations.kind, kind), eq(locations.key, key));

/** A claim that is made again is renewed. So it is never quite what another request has seen. */
export const renewed = (now: Value<number>) => ({
  ...renewedBy(now),
  setWhere: eq(locations.organization_id, sql`excluded.organization_id`),
});

const renewedBy = (now: Value<number>) => ({
  target: [locations.kind, locations.key],
  set: { claimed_at: sql`max(${locations.claimed_at} + 1, ${now})` },
});

/**
 * True for a key that nothing has in the database that is asked. What the first database has needs no claim: nobody else gets
 * it.
 */
export const isFree = (kind: LocationKind, key: Value<string>) => {
  const { table, column } = HOLDERS[kind];
  return sql`not exists (select 1 from ${table} where ${eq(column, key)})`;
};

/** What a key is claimed for. */
const HOLDERS = {
  call: { table: calls, column: calls.key },
  egress: { table: egresses, column: egresses.egress_id },
  file: { table: storageKeys, column: storageKeys.storage_key },
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

export const takeClaim = preparedQuery((claim: Placeholders<Contested & { now: number }>) =>
  builder
    .update(locations)
    .set({ organization_id: sql`${claim.claimant_id}`, claimed_at: sql`${claim.now}` })
    .where(isClaim(claim)),
);

export const dropClaim = preparedQuery((claim: Placeholders<Claim>) =>
  builder.delete(locations).where(isClaim(claim)),
);

/**
 * Fences the shard of the owner, unless something has the key there.
 *
 * @returns the row of the fence, if there is one now
 */
export const fence = Object.fromEntries(
  (["call", "egress", "file"] as const).map((kind) => [
    kind,
    preparedQuery(({ key, organization_id, now }: Placeholders<Claim & { now: number }>) =>
      insertSelect(
        locations,
        {
          kind: sql<LocationKind>`${sql.raw(`'${kind}'`)}`,
          key,
          organization_id: organizations.id,
          claimed_at: now,
        },
        sql`from ${organizations} where ${eq(organizations.id, organization_id)} and ${isFree(kind, key)}`,
      )
        .onConflictDoUpdate(renewedBy(now))
        .returning({ kind: locations.kind, key: locations.key }),
    ),
  ]),
) as Record<
  LocationKind,
  (values: Claim & { now: number }) => BoundQuery<{ kind: LocationKind; key: string }>
>;

/** For the owner of the claim. A fence that is as young as if somebody had taken this very claim stays. */
export const takeFenceAway = preparedQuery(({ kind, key, claimed_at }: Placeholders<Claim>) =>
  builder
    .delete(locations)
    .where(and(isLocation(kind, key), lt(locations.claimed_at, sql`${claimed_at} + ${CLAIM_KEPT_FOR}`))),
);
