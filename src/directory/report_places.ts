import { and, desc, eq, inArray, ne, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { insertSelect } from "../database/insert.ts";
import { builder, type Placeholders, preparedQuery, type Value } from "../database/queries.ts";
import {
  calls,
  egresses,
  livekitEgresses,
  locations,
  organizations,
  storageKeys,
} from "../database/schema.ts";
import { claimants, contestedBy, isFree, isLocation, renewed } from "./claims.ts";
import { organizationSlugOf, type Place, shardOf, shardOfKey } from "./places.ts";

/* Where a report belongs that may bring a new key: its place claims the key before the row is written. */

/** A report of a call. */
interface CallNames {
  key: string;
  /** That of the waiting room; empty where the report names none. */
  slug: string;
  now: number;
}

/** Where a report of a call belongs: to the call that is known by the key, or to the organization of the waiting room. */
export function placeOfReport(key: string, room_slug: string, now: number): Place {
  const report = { key, slug: organizationSlugOf(room_slug), now };
  return {
    names: [`call:${key}`],
    claims: [claimCall(report)],
    contested: [contestedCall(report)],
    waiting: [],
    find: shardOfReport(report),
  };
}

const claimCall = preparedQuery(({ key, slug, now }: Placeholders<CallNames>) =>
  insertSelect(
    locations,
    { kind: sql<"call">`'call'`, key, organization_id: organizations.id, claimed_at: now },
    sql`from ${organizations} where ${eq(organizations.slug, slug)} and ${ne(organizations.shard, 0)}
      and ${isFree("call", key)}`,
  )
    .onConflictDoUpdate(renewed(now))
    .returning(),
);

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
      and ${isFree("egress", report.egress_id)}`,
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

/** Not while it is open whose egress it is: the call that the report names is another organization's. */
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
      and ${organizations.id} = coalesce(${organizationOfCall(report)}, ${organizations.id})
      and ${isFree("file", report.storage_key)}`,
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

/**
 * A file that the first database's own organizations have is not in the directory. Its recording is there, so it is never
 * free.
 */
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
