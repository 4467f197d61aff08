import { and, desc, eq, inArray, ne, type SQL, sql } from "drizzle-orm";
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
  livekitEgresses,
  locations,
  organizations,
  shards,
  storageKeys,
} from "../database/schema.ts";
import { rangeOf } from "../database/shards.ts";
import { CLAIM_KEPT_FOR } from "../limits.ts";

/*
 * Where things are, as the directory knows it. The statements of a place run in the first batch of the verb, as if what it
 * wants were in the directory's own database (see in_place.ts). So they cost no round trip where it is.
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
const organizationSlugOf = (room_slug: string) =>
  room_slug.slice(0, Math.max(room_slug.lastIndexOf("--"), 0));

const shardOf = (condition: SQL) =>
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

const isLocation = (kind: Value<LocationKind>, key: Value<string>) =>
  and(eq(locations.kind, kind), eq(locations.key, key));

const shardOfKey = preparedQuery(({ kind, key }: Placeholders<{ kind: LocationKind; key: string }>) =>
  builder
    .select({ shard: organizations.shard })
    .from(locations)
    .innerJoin(organizations, eq(organizations.id, locations.organization_id))
    .where(isLocation(kind, key)),
);

/** A report of a call. */
interface CallNames {
  key: string;
  /** That of the waiting room; empty where the report names none. */
  slug: string;
  /** Another key by which the call of LiveKit's room may be known. Empty where there is none: no call has an empty key. */
  other_key: string;
  now: number;
}

/** Where a report of a call belongs: to the call that is known by the key, or to the organization of the waiting room. */
export function placeOfReport(key: string, room_slug: string, now: number, other_key = ""): Place {
  const report = { key, slug: organizationSlugOf(room_slug), other_key, now };
  return {
    names: [`call:${key}`],
    claims: [claimCall(report)],
    contested: [contestedCall(report)],
    waiting: [],
    find: shardOfReport(report),
  };
}

/** A claim that is made again is renewed, unless that was done lately. The millisecond tells it from a new one. */
const renewed = (now: Value<number>) => ({
  target: [locations.kind, locations.key],
  set: { claimed_at: sql`${now} - 1` },
  setWhere: and(
    eq(locations.organization_id, sql`excluded.organization_id`),
    sql`${locations.claimed_at} < ${now} - ${sql.raw(String(CLAIM_KEPT_FOR / 2))}`,
  ),
});

/** Keys that calls, egresses and files of the first database have need no claim: nobody else gets them. */
const unlessOwn = (table: typeof calls | typeof egresses | typeof storageKeys, condition: SQL) =>
  sql`not exists (select 1 from ${table} where ${condition})`;

const claimCall = preparedQuery(({ key, slug, other_key, now }: Placeholders<CallNames>) => {
  const known = alias(locations, "known");
  const isKnownOtherwise = builder
    .select({ key: known.key })
    .from(known)
    .where(
      and(
        eq(known.kind, "call"),
        eq(known.key, other_key),
        eq(known.organization_id, organizations.id),
        ne(known.key, key),
      ),
    );
  return insertSelect(
    locations,
    { kind: sql<"call">`'call'`, key, organization_id: organizations.id, claimed_at: now },
    sql`from ${organizations} where ${eq(organizations.slug, slug)} and ${ne(organizations.shard, 0)}
      and ${unlessOwn(calls, eq(calls.key, key))} and not exists ${isKnownOtherwise}`,
  )
    .onConflictDoUpdate(renewed(now))
    .returning();
});

const shardOfReport = preparedQuery(({ key, slug }: Placeholders<CallNames>) => {
  const claimed = builder
    .select({ shard: organizations.shard })
    .from(locations)
    .innerJoin(organizations, eq(organizations.id, locations.organization_id))
    .where(isLocation("call", key));
  const own = builder.select({ shard: sql`0` }).from(calls).where(eq(calls.key, key));
  return builder
    .select({
      shard: sql<number>`coalesce(${claimed}, ${own}, ${shardOf(eq(organizations.slug, slug))}, 0)`.as(
        "shard",
      ),
    })
    .from(sql`(select 1)`);
});

const claimants = alias(organizations, "claimants");

/** Selects a claim of a key that is not the claimant's. A claimant that is null is nobody. */
const contestedBy = (kind: LocationKind, key: Value<string>, claimant: SQL) =>
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

const contestedCall = preparedQuery(({ key, slug }: Placeholders<CallNames>) =>
  contestedBy(
    "call",
    key,
    sql`${builder.select({ id: organizations.id }).from(organizations).where(eq(organizations.slug, slug))}`,
  ),
);

/** A report of an egress. What it does not name is an empty text, which is no key. */
export interface EgressNames {
  egress_id: string;
  /** The key of its call. */
  call_key: string;
  /** Another one by which the call of LiveKit's room may be known. */
  other_key: string;
  storage_key: string;
  now: number;
}

/** Where a report of an egress belongs: to the egress if that is known, or to its call. Else it is the directory's. */
export function placeOfEgressReport(report: EgressNames): Place {
  const { egress_id, storage_key } = report;
  return {
    names: [`egress:${egress_id}`, ...(storage_key === "" ? [] : [`file:${storage_key}`])],
    claims: [claimEgress(report), ...(storage_key === "" ? [] : [claimFile(report)])],
    contested: [
      contestedEgress(report),
      ...(storage_key === "" ? [] : [contestedFile(report), fileOfFirst(report)]),
    ],
    waiting: [waitingEgress({ egress_id })],
    find: shardOfKey({ kind: "egress", key: egress_id }),
  };
}

export const waitingEgress = preparedQuery(({ egress_id }: Placeholders<{ egress_id: string }>) =>
  builder.select().from(livekitEgresses).where(eq(livekitEgresses.egress_id, egress_id)),
);

type EgressReport = Placeholders<EgressNames>;

/** Selects the organization of the call: that of the key, else that of the other one. */
const organizationOfCall = ({ call_key, other_key }: EgressReport) => {
  const named = alias(locations, "named");
  const claimed = builder
    .select({ id: named.organization_id })
    .from(named)
    .where(and(eq(named.kind, "call"), inArray(named.key, [call_key, other_key])))
    .orderBy(desc(sql`${named.key} = ${call_key}`))
    .limit(1);
  const own = (key: Value<string>) =>
    builder.select({ id: calls.organization_id }).from(calls).where(eq(calls.key, key));
  // A call of the first database with the key itself comes before one that another database has under the other key.
  const claimedByKey = builder
    .select({ id: named.organization_id })
    .from(named)
    .where(and(eq(named.kind, "call"), eq(named.key, call_key)));
  return sql`coalesce(${claimedByKey}, ${own(call_key)}, ${claimed}, ${own(other_key)})`;
};

const claimEgress = preparedQuery((report: EgressReport) =>
  insertSelect(
    locations,
    {
      kind: sql<"egress">`'egress'`,
      key: report.egress_id,
      organization_id: organizations.id,
      claimed_at: report.now,
    },
    sql`from ${organizations} where ${organizations.id} = ${organizationOfCall(report)} and ${ne(organizations.shard, 0)}
      and ${unlessOwn(egresses, eq(egresses.egress_id, report.egress_id))}`,
  )
    .onConflictDoUpdate(renewed(report.now))
    .returning(),
);

/** Selects the organization of the egress, if it is known or claimed. */
const organizationOfEgress = ({ egress_id }: EgressReport) => {
  const named = alias(locations, "named");
  const claimed = builder
    .select({ id: named.organization_id })
    .from(named)
    .where(and(eq(named.kind, "egress"), eq(named.key, egress_id)));
  const own = builder
    .select({ id: egresses.organization_id })
    .from(egresses)
    .where(eq(egresses.egress_id, egress_id));
  return sql`coalesce(${claimed}, ${own})`;
};

const claimFile = preparedQuery((report: EgressReport) =>
  insertSelect(
    locations,
    {
      kind: sql<"file">`'file'`,
      key: report.storage_key,
      organization_id: organizations.id,
      claimed_at: report.now,
    },
    sql`from ${organizations} where ${organizations.id} = ${organizationOfEgress(report)} and ${ne(organizations.shard, 0)}
      and ${unlessOwn(storageKeys, eq(storageKeys.storage_key, report.storage_key))}`,
  )
    .onConflictDoUpdate(renewed(report.now))
    .returning(),
);

const contestedEgress = preparedQuery((report: EgressReport) =>
  contestedBy("egress", report.egress_id, organizationOfCall(report)),
);

const claimantOfFile = (report: EgressReport) =>
  sql`coalesce(${organizationOfEgress(report)}, ${organizationOfCall(report)})`;

const contestedFile = preparedQuery((report: EgressReport) =>
  contestedBy("file", report.storage_key, claimantOfFile(report)),
);

/** A file that the first database's own organizations have is not in the directory. Its recording is there, so it is never free. */
const fileOfFirst = preparedQuery((report: EgressReport) =>
  builder
    .select({
      kind: sql<"file">`'file'`.as("kind"),
      key: sql<string>`${storageKeys.storage_key}`.as("key"),
      organization_id: storageKeys.organization_id,
      claimed_at: sql<number>`${report.now}`.as("claimed_at"),
      shard: sql<number>`0`.as("shard"),
      claimant_id: sql<number>`${claimants.id}`.as("claimant_id"),
      claimant_shard: sql<number>`${claimants.shard}`.as("claimant_shard"),
    })
    .from(storageKeys)
    .innerJoin(claimants, eq(claimants.id, claimantOfFile(report)))
    .where(and(eq(storageKeys.storage_key, report.storage_key), ne(claimants.shard, 0))),
);

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
