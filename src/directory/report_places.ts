import { and, eq, ne, sql } from "drizzle-orm";
import { builder, type Placeholders, preparedQuery } from "../database/queries.ts";
import { livekitEgresses, organizations, storageKeys } from "../database/schema.ts";
import { waitingEgress } from "../livekit/egresses.ts";
import { claimants, claimFor, contestedBy, ownerOf } from "./claims.ts";
import { nameOfKey, organizationSlugOf, type Place, selectShard, shardOfKey } from "./places.ts";

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
    names: [nameOfKey("call", key)],
    claims: [claimCall(report)],
    contested: [contestedCall(report)],
    waiting: [],
    find: shardOfReport(report),
  };
}

const claimCall = preparedQuery(({ key, slug, now }: Placeholders<CallNames>) =>
  claimFor("call", key, now, eq(organizations.slug, slug)),
);

const shardOfReport = preparedQuery(({ key, slug }: Placeholders<CallNames>) => {
  const ofOwner = selectShard(sql`${organizations.id} = ${ownerOf("call", key)}`);
  const ofRoom = selectShard(eq(organizations.slug, slug));
  return builder
    .select({ shard: sql<number>`coalesce(${ofOwner}, ${ofRoom}, 0)`.as("shard") })
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
    names: [nameOfKey("egress", egress_id), ...(storage_key === "" ? [] : [nameOfKey("file", storage_key)])],
    claims: [claimEgress(report), ...(storage_key === "" ? [] : [claimFile(report)])],
    contested: [
      contestedEgress(report),
      ...(storage_key === "" ? [contestedWaitingFile(report)] : [contestedFile(report), fileOfFirst(report)]),
    ],
    waiting: [waitingEgress({ egress_id })],
    find: shardOfKey({ kind: "egress", key: egress_id }),
  };
}

type EgressReport = Placeholders<EgressNames>;

/** Selects the organization of the call: that of the key, else that of the other one. */
const organizationOfCall = ({ call_key, other_key }: EgressReport) =>
  sql`coalesce(${ownerOf("call", call_key)}, ${ownerOf("call", other_key)})`;

const claimEgress = preparedQuery((report: EgressReport) =>
  claimFor("egress", report.egress_id, report.now, sql`${organizations.id} = ${organizationOfCall(report)}`),
);

const claimFile = preparedQuery((report: EgressReport) =>
  claimFor(
    "file",
    report.storage_key,
    report.now,
    sql`${organizations.id} = ${ownerOf("egress", report.egress_id)}`,
  ),
);

const contestedEgress = preparedQuery((report: EgressReport) =>
  contestedBy("egress", report.egress_id, organizationOfCall(report)),
);

const claimantOfFile = (report: EgressReport) =>
  sql`coalesce(${ownerOf("egress", report.egress_id)}, ${organizationOfCall(report)})`;

const contestedFile = preparedQuery((report: EgressReport) =>
  contestedBy("file", report.storage_key, claimantOfFile(report)),
);

/** The file that LiveKit named while the egress waits. */
const contestedWaitingFile = preparedQuery((report: EgressReport) =>
  contestedBy(
    "file",
    sql<string>`(select ${livekitEgresses.storage_key} from ${livekitEgresses} where ${eq(livekitEgresses.egress_id, report.egress_id)})`,
    claimantOfFile(report),
  ),
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
