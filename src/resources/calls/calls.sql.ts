import { and, desc, eq, getTableColumns, inArray, isNotNull, type SQL, sql } from "drizzle-orm";
import type { Caller } from "../../context.ts";
import { replaceAllBut } from "../../database/insert.ts";
import {
  builder,
  namedQuery,
  type Placeholders,
  type Row,
  type Value,
  type Values,
} from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { calls, organizationUsers, type soapNotes, type transcripts } from "../../database/schema.ts";
import { selectTotal, totalOf } from "../../database/totals.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import type { PageWindow } from "../../http/pagination.ts";
import { type Reach, reachOf, withinReach } from "../organization_users/organization_users.sql.ts";
import { organizationOfAnySlug } from "../waiting_rooms/waiting_rooms.slugs.ts";

export const UNDER_LEGAL_HOLD = "The call is under legal hold: end the hold first";

export const callColumns = getTableColumns(calls);

/** What reports say of a call, and when. */
export type CallRecord = Omit<Row<typeof callColumns>, "id">;

/** The organization user whom a path names, and who asks, as values of a query. */
export interface ReachedOwner extends Reach {
  /** The organization user whom the path names; `organization_user_id` is the caller's own. */
  owner_id: number;
}

/** Selects the id of the organization user whom the path names, where the caller reaches that user. */
const ownerWithinReach = (owner: Values<ReachedOwner>) =>
  builder
    .select({ id: organizationUsers.id })
    .from(organizationUsers)
    .where(and(eq(organizationUsers.id, owner.owner_id), withinReach(owner)));

export const ownerOfPath = namedQuery((owner: Placeholders<ReachedOwner>) => ownerWithinReach(owner));

/** The calls of an organization user, newest first. */
export const pageOfCalls = namedQuery((page: Placeholders<ReachedOwner & PageWindow>) =>
  builder
    .select(callColumns)
    .from(calls)
    .where(eq(calls.organization_user_id, ownerWithinReach(page)))
    .orderBy(desc(calls.started_at), desc(calls.id))
    .limit(page.limit)
    .offset(page.offset),
);

export const totalOfCalls = namedQuery((owner: Placeholders<ReachedOwner>) =>
  selectTotal(totalOf("calls", ownerWithinReach(owner))),
);

/** The call that a path names, and who asks, as values of a query. */
export interface ReachedCall extends ReachedOwner {
  call_id: number;
}

/** The values by which queries find the call of a path for a caller. */
export const reachedCall = (
  caller: Caller,
  { organization_user_id, call_id }: { organization_user_id: number; call_id: number },
): ReachedCall => ({ ...reachOf(caller), owner_id: organization_user_id, call_id });

/** True for the call of the path, where the caller reaches the organization user whom the path names. */
export function callWithinReach(call: Values<ReachedCall>): SQL | undefined {
  return and(
    eq(calls.id, call.call_id),
    eq(calls.organization_id, call.organization_id),
    eq(calls.organization_user_id, ownerWithinReach(call)),
  );
}

/** Selects the id of the call of the path, where it is within reach and has ended: only then are its results complete. */
export const endedCallId = (call: Placeholders<ReachedCall>) =>
  builder
    .select({ id: calls.id })
    .from(calls)
    .where(and(callWithinReach(call), isNotNull(calls.ended_at)));

/** The call of the path, where it is within reach. */
export const callOfPath = namedQuery((call: Placeholders<ReachedCall>) =>
  builder.select(callColumns).from(calls).where(callWithinReach(call)),
);

/** For the platform, which names calls by keys of its own. */
export const callByKey = namedQuery(({ key }: Placeholders<{ key: string }>) =>
  builder.select(callColumns).from(calls).where(eq(calls.key, key)),
);

/** Selects the id of the call that the platform names by its key. */
export const callIdByKey = (key: Value<string>) =>
  builder.select({ id: calls.id }).from(calls).where(eq(calls.key, key));

/** A write that deletes what the call that the platform names has in a table: nothing of a call under legal hold. */
export const namedDeletion = (results: typeof transcripts | typeof soapNotes) =>
  namedWrite(({ key }: Placeholders<{ key: string }>) => ({
    rules: [
      { broken: sql`not exists ${callIdByKey(key)}`, refusal: () => notFound("Call") },
      {
        broken: sql`exists ${builder
          .select({ id: calls.id })
          .from(calls)
          .where(and(eq(calls.key, key), calls.legal_hold))}`,
        refusal: () => unprocessable(UNDER_LEGAL_HOLD),
      },
    ],
    statements: [builder.delete(results).where(eq(results.call_id, callIdByKey(key))), callIdByKey(key)],
  }));

/** The call and the room that a report names: they say of which organization it is. */
export interface ReportedCall {
  key: string;
  /** Null where the report names no room. */
  slug: string | null;
}

/** The organization of the call with this key, else of the room that has or had this slug. */
export function organizationOfReport({ key, slug }: Placeholders<ReportedCall>): SQL<number> {
  const ofCall = builder.select({ id: calls.organization_id }).from(calls).where(eq(calls.key, key));
  return sql`coalesce(${ofCall}, ${organizationOfAnySlug(slug)})`;
}

/** The users whom a report of a call names, and who are of its organization. `user_ids` is a JSON array. */
export const membersOfReport = namedQuery((report: Placeholders<ReportedCall & { user_ids: string }>) =>
  builder
    .select({ user_id: organizationUsers.user_id })
    .from(organizationUsers)
    .where(
      and(
        eq(organizationUsers.organization_id, organizationOfReport(report)),
        inArray(organizationUsers.user_id, sql`(select value from json_each(${report.user_ids}))`),
      ),
    )
    .orderBy(organizationUsers.user_id),
);

/** The organization of an organization user. */
export const organizationOfOwner = namedQuery(({ owner_id }: Placeholders<{ owner_id: number | null }>) =>
  builder
    .select({ organization_id: organizationUsers.organization_id })
    .from(organizationUsers)
    .where(eq(organizationUsers.id, owner_id)),
);

/** Writes a call by its key, a new one or a known one. */
export const writeCall = namedQuery((call: Placeholders<CallRecord>) =>
  builder
    .insert(calls)
    .values({
      organization_id: call.organization_id,
      key: call.key,
      organization_user_id: call.organization_user_id,
      waiting_room_id: call.waiting_room_id,
      started_at: call.started_at,
      ended_at: call.ended_at,
      failed: call.failed,
      legal_hold: call.legal_hold,
      created_at: call.created_at,
      updated_at: call.updated_at,
    })
    .onConflictDoUpdate({
      target: calls.key,
      set: replaceAllBut(calls, ["id", "organization_id", "key", "waiting_room_id", "created_at"]),
    }),
);
