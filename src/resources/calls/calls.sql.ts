import {
  and,
  eq,
  exists,
  getTableColumns,
  isNotNull,
  isNull,
  max,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { alias, integer, sqliteTable } from "drizzle-orm/sqlite-core";
import type { Caller } from "../../context.ts";
import { hasValues, iif, isSame, joinedColumnAs, scalar } from "../../database/expressions.ts";
import { insertSelect, jsonRows, jsonValue } from "../../database/insert.ts";
import {
  builder,
  type Placeholders,
  preparedQuery,
  type Row,
  type RowsOf,
  type Values,
} from "../../database/queries.ts";
import { calls, legalHolds, organizationUsers } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { entriesWhere } from "../access_logs/access_logs.entries.ts";
import { type Reach, reachOf, withinReach } from "../organization_users/organization_users.sql.ts";

export const callColumns = getTableColumns(calls);

export const callWrites = tableWrites(calls, callColumns);

/** The organization user whom a path names, and who asks, as values of a query. */
export interface ReachedOwner extends Reach {
  /** The organization user whom the path names; `organization_user_id` is the caller's own. */
  owner_id: number;
}

/** Selects the id of the organization user whom the path names, where the caller reaches that user. */
export const ownerWithinReach = (owner: Values<ReachedOwner>) =>
  selectColumn(organizationUsers.id, eq(organizationUsers.id, owner.owner_id), withinReach(owner));

export const ownerOfPath = preparedQuery((owner: Placeholders<ReachedOwner>) => ownerWithinReach(owner));

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
  return hasValues(calls, {
    id: call.call_id,
    organization_id: call.organization_id,
    organization_user_id: ownerWithinReach(call),
  });
}

/** True for the call of the path, where it is within reach and has ended: only then are its results complete. */
export const endedCall = (call: Values<ReachedCall>): SQL | undefined =>
  and(callWithinReach(call), isNotNull(calls.ended_at));

/** Selects the id of that call. */
export const endedCallId = (call: Values<ReachedCall>) => selectColumn(calls.id, endedCall(call));

/** Selects the id of the call of the path, where it is within reach; it may go on. */
export const callIdOfPath = (call: Values<ReachedCall>) => selectColumn(calls.id, callWithinReach(call));

/** The call of the path, where it is within reach. */
export const callOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder.select(callColumns).from(calls).where(callWithinReach(call)),
);

/** What the organization's own update of the call rests on: no report of anything else conflicts with it. */
export const referenceOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select({
      id: calls.id,
      external_reference: calls.external_reference,
      reference_said_by: calls.reference_said_by,
      reference_erased_at: calls.reference_erased_at,
    })
    .from(calls)
    .where(callWithinReach(call)),
);

export type KnownReference = Row<
  Pick<typeof callColumns, "id" | "external_reference" | "reference_said_by" | "reference_erased_at">
>;

/** What the organization itself says of it. */
export const setReference = preparedQuery(
  (of: Placeholders<{ id: number; external_reference: string | null; now: number }>) =>
    builder
      .update(calls)
      .set({
        external_reference: of.external_reference,
        reference_said_by: "organization",
        updated_at: iif(isSame(calls.external_reference, of.external_reference), calls.updated_at, of.now),
      })
      .where(eq(calls.id, of.id)),
);

const endedHold = alias(legalHolds, "ended_hold");

/** Of those that were the platform's: no report begins one that is the organization's. null where none of them has ended. */
const endOfLastHold = sql<number | null>`${builder
  .select({ ended_at: max(endedHold.ended_at) })
  .from(endedHold)
  .where(
    and(hasValues(endedHold, { call_id: calls.id, begun_by: "platform" }), isNotNull(endedHold.ended_at)),
  )}`.as("hold_ended_at");

/** The running hold of a call, which is joined: null where there is none. */
export const holdColumns = {
  hold_id: joinedColumnAs(legalHolds.id, "hold_id"),
  hold_began_at: joinedColumnAs(legalHolds.began_at, "hold_began_at"),
  hold_begun_by: joinedColumnAs(legalHolds.begun_by, "hold_begun_by"),
  hold_reason: joinedColumnAs(legalHolds.reason, "hold_reason"),
};

/** What the platform sees of a call. */
export const reportedCallColumns = {
  ...callColumns,
  ...holdColumns,
  hold_ended_at: endOfLastHold,
};

/** True for the legal hold of a call that has not ended. */
export const isRunningHoldOf = (call_id: SQLWrapper) =>
  and(eq(legalHolds.call_id, call_id), isNull(legalHolds.ended_at));

/** True where a call is under legal hold. */
export const isHeld = (call_id: SQLWrapper): SQL =>
  exists(selectColumn(legalHolds.id, isRunningHoldOf(call_id)));

/** Selects calls as the platform sees them. */
export const selectReportedCalls = () =>
  builder.select(reportedCallColumns).from(calls).leftJoin(legalHolds, isRunningHoldOf(calls.id));

/** A call as the platform names it: by a key of its own, which is unique in the organization. */
export interface CallKey {
  organization_id: number;
  key: string;
}

const hasKey = ({ organization_id, key }: Values<CallKey>) => hasValues(calls, { organization_id, key });

export const callByKey = preparedQuery((call: Placeholders<CallKey>) =>
  selectReportedCalls().where(hasKey(call)),
);

/** Selects the id of the call with this key. */
export const callIdByKey = (call: Values<CallKey>) => selectColumn(calls.id, hasKey(call));

/**
 * What writes of a call's transcript and SOAP note depend on. Reports of the call change other columns of it, and do not
 * conflict with them.
 */
export const callOfResults = preparedQuery((call: Placeholders<CallKey>) =>
  selectResults().where(hasKey(call)),
);

/** The same of the call of the path, where it is within reach. */
export const resultsOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  selectResults().where(callWithinReach(call)),
);

const selectResults = () =>
  builder
    .select({
      id: calls.id,
      organization_id: calls.organization_id,
      has_ended: isNotNull(calls.ended_at).mapWith(Boolean).as("has_ended"),
      hold_id: holdColumns.hold_id,
      transcript_deleted_at: calls.transcript_deleted_at,
      soap_note_deleted_at: calls.soap_note_deleted_at,
    })
    .from(calls)
    .leftJoin(legalHolds, isRunningHoldOf(calls.id));

export type CallOfResults = RowsOf<[ReturnType<typeof callOfResults>]>[0][number];

/** The entries of the access log about the calls that a condition selects. */
export const callEntries = entriesWhere("call", calls, {
  organization_id: calls.organization_id,
  call_id: calls.id,
  organization_user_id: calls.organization_user_id,
});

export const callEntry = callEntries(({ id }: Placeholders<{ id: number }>) => eq(calls.id, id));

/** What triggers/events.sql does for the calls of these ids: their recordings can be read when all else is written. */
const recordingsOfCalls = sqliteTable("events_recordings", { call_id: integer(), at: integer() });

/** @param ids a JSON array of the ids of calls */
export const announceRecordings = preparedQuery((of: Placeholders<{ ids: string; now: number }>) =>
  insertSelect(recordingsOfCalls, { call_id: jsonValue, at: of.now }, { from: jsonRows(of.ids) }),
);

/** The same for a call that may be written in the same transaction. */
export const announceRecordingsOf = preparedQuery((call: Placeholders<CallKey & { now: number }>) =>
  builder.insert(recordingsOfCalls).values({ call_id: scalar(callIdByKey(call)), at: call.now }),
);
