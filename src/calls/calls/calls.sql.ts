import { and, eq, getTableColumns, isNotNull, max, type SQL, sql } from "drizzle-orm";
import { alias, integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import type { Caller } from "../../context.ts";
import type { CallTextKind } from "../../database/enums.ts";
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
import { isRunningHoldOf } from "../../database/retention.ts";
import { rowsWhere, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { type Reach, reachOf, withinReach } from "../../organization/members/members.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { callTexts } from "../../results/call_texts/call_texts.table.ts";
import { visibleRecordings } from "../../results/egresses/egresses.table.ts";
import { legalHolds } from "../legal_holds/legal_holds.table.ts";
import { calls } from "./calls.table.ts";

export const callColumns = getTableColumns(calls);

export const callWrites = tableWrites(calls, callColumns);

export interface ReachedOwner extends Reach {
  /** The organization user in the path; `organization_user_id` is the caller's own. */
  owner_id: number;
}

export const ownerWithinReach = (owner: Values<ReachedOwner>) =>
  selectColumn(organizationUsers.id, eq(organizationUsers.id, owner.owner_id), withinReach(owner));

export const ownerOfPath = preparedQuery((owner: Placeholders<ReachedOwner>) => ownerWithinReach(owner));

export interface ReachedCall extends ReachedOwner {
  call_id: number;
}

export const reachedCall = (
  caller: Caller,
  { organization_user_id, call_id }: { organization_user_id: number; call_id: number },
): ReachedCall => ({ ...reachOf(caller), owner_id: organization_user_id, call_id });

export const callWithinReach = (call: Values<ReachedCall>): SQL | undefined =>
  hasValues(calls, {
    id: call.call_id,
    organization_id: call.organization_id,
    organization_user_id: ownerWithinReach(call),
  });

/** Selects the call in the path, if it is within reach and has ended: its results are complete only then. */
export const endedCallId = (call: Values<ReachedCall>) =>
  selectColumn(calls.id, callWithinReach(call), isNotNull(calls.ended_at));

export const callIdOfPath = (call: Values<ReachedCall>) => selectColumn(calls.id, callWithinReach(call));

export const callOfPath = rowsWhere(calls, callColumns, (call: Placeholders<ReachedCall>) =>
  callWithinReach(call),
);

const { id, external_reference, reference_said_by, reference_erased_at } = calls;

/** Only the columns that the organization's update of the call depends on, so that other reports do not conflict with it. */
const referenceColumns = { id, external_reference, reference_said_by, reference_erased_at };

export const referenceOfPath = rowsWhere(calls, referenceColumns, (call: Placeholders<ReachedCall>) =>
  callWithinReach(call),
);

export type KnownReference = Row<typeof referenceColumns>;

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

/** The end of the platform's last hold; null if none has ended. Holds of the organization do not matter: no report begins one. */
const endOfLastHold = sql<number | null>`${builder
  .select({ ended_at: max(endedHold.ended_at) })
  .from(endedHold)
  .where(
    and(hasValues(endedHold, { call_id: calls.id, begun_by: "platform" }), isNotNull(endedHold.ended_at)),
  )}`.as("hold_ended_at");

export const holdColumns = {
  hold_id: joinedColumnAs(legalHolds.id, "hold_id"),
  hold_began_at: joinedColumnAs(legalHolds.began_at, "hold_began_at"),
  hold_begun_by: joinedColumnAs(legalHolds.begun_by, "hold_begun_by"),
  hold_reason: joinedColumnAs(legalHolds.reason, "hold_reason"),
};

export const reportedCallColumns = { ...callColumns, ...holdColumns, hold_ended_at: endOfLastHold };

export const selectReportedCalls = () =>
  builder.select(reportedCallColumns).from(calls).leftJoin(legalHolds, isRunningHoldOf(calls.id));

export interface CallKey {
  organization_id: number;
  key: string;
}

const hasKey = ({ organization_id, key }: Values<CallKey>) => hasValues(calls, { organization_id, key });

export const callByKey = preparedQuery((call: Placeholders<CallKey>) =>
  selectReportedCalls().where(hasKey(call)),
);

export const callIdByKey = (call: Values<CallKey>) => selectColumn(calls.id, hasKey(call));

/**
 * Only the columns that writes of a call's transcript and SOAP note depend on. Reports of the call change other columns, so they do
 * not conflict with these writes.
 */
export const callOfResults = preparedQuery((call: Placeholders<CallKey>) =>
  selectResults().where(hasKey(call)),
);

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

export const callEntries = entriesWhere("call", calls, {
  organization_id: calls.organization_id,
  call_id: calls.id,
  organization_user_id: calls.organization_user_id,
});

export const callEntry = callEntries(({ id }: Placeholders<{ id: number }>) => eq(calls.id, id));

/** A view of egresses.triggers.sql: an insert announces the recordings of the call that can be read by then, so it must come last. */
const recordingsOfCalls = sqliteTable("events_recordings", { call_id: integer(), at: integer() });

/** @param ids a JSON array of the ids of calls */
export const announceRecordings = preparedQuery((of: Placeholders<{ ids: string; now: number }>) =>
  insertSelect(recordingsOfCalls, { call_id: jsonValue, at: of.now }, { from: jsonRows(of.ids) }),
);

/** For a call that may be inserted in the same transaction. */
export const announceRecordingsOf = preparedQuery((call: Placeholders<CallKey & { now: number }>) =>
  builder.insert(recordingsOfCalls).values({ call_id: scalar(callIdByKey(call)), at: call.now }),
);

const isFinal = (kind: CallTextKind) =>
  scalar(selectColumn(callTexts.is_final, hasValues(callTexts, { call_id: calls.id, kind }))).mapWith(
    callTexts.is_final,
  );

/** A call with the state of its results. `egress_count` is the number of recordings that their list shows. */
export const columnsWithResults = {
  ...callColumns,
  transcript_is_final: isFinal("transcript").as("transcript_is_final"),
  soap_note_is_final: isFinal("soap_note").as("soap_note_is_final"),
  egress_count: builder.$count(visibleRecordings, eq(visibleRecordings.call_id, calls.id)).as("egress_count"),
};

/** Only administrators see the hold. */
export const callDetails = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select({ ...columnsWithResults, ...holdColumns })
    .from(calls)
    .leftJoin(legalHolds, and(isRunningHoldOf(calls.id), call.reaches_everybody))
    .where(callWithinReach(call)),
);
