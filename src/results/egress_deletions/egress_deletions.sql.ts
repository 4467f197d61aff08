import {
  and,
  eq,
  exists,
  inArray,
  isNotNull,
  isNull,
  lte,
  ne,
  not,
  notExists,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { callIdOfPath } from "../../calls/calls/calls.sql.ts";
import { calls } from "../../calls/calls/calls.table.ts";
import type { Caller } from "../../context.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { coalesce, hasValues } from "../../database/expressions.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isOverdue, isPastRetention } from "../../database/retention.ts";
import { rowsWhere, selectColumn } from "../../database/selects.ts";
import { type ChoreTurn, isInTurn } from "../../database/turns.ts";
import { UNCLAIMED_KEPT_FOR } from "../../lifetimes.ts";
import { isAdministrator } from "../../organization/api_clients/api_clients.sql.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { type EgressKey, egressEntries, hasEgressKey, type ReachedEgress } from "../egresses/egresses.sql.ts";
import { egresses, egressFiles } from "../egresses/egresses.table.ts";

/** Literal SQL, because SQLite uses a partial index only if its WHERE is repeated literally. */
const DELETED = sql.raw(`'${EGRESS_DELETED}'`);

const scheduleWhere = (isDue: (turn: Placeholders<ChoreTurn>) => SQL) =>
  preparedQuery((turn: Placeholders<ChoreTurn>) =>
    builder
      .update(egresses)
      .set({ deletion_due_at: sql`${turn.now}` })
      .where(isDue(turn))
      .returning({ organization_id: egresses.organization_id }),
  );

export const scheduleExpiredDeletions = scheduleWhere((turn) => {
  const { call_ended_at: time, is_held, deletion_due_at, status } = egresses;
  const where = and(not(is_held), isNull(deletion_due_at), ne(status, DELETED));
  return isPastRetention(egresses, { time, days: organizations.recording_retention_days, where }, turn);
});

export const scheduleUnclaimedDeletions = scheduleWhere((turn) => {
  const { updated_at: time, call_id, deletion_due_at, status } = egresses;
  const indexed = and(isNull(call_id), isNull(deletion_due_at), ne(status, DELETED));
  const where = sql`${time} <= ${turn.now} - ${sql.raw(String(UNCLAIMED_KEPT_FOR))}`;
  return isInTurn(egresses, { time, where, indexed }, turn);
});

/**
 * Takes the deletions that have been due longest: a share per organization, and at most a portion in all. Taking a
 * deletion moves it behind the organization's others, so that a file that can never be deleted does not hold them up. A
 * recording is kept if its organization has extended the retention, or its call was reported after all, unless the call's recordings
 * were deleted before.
 */
export const takeDueDeletions = preparedQuery((turn: Placeholders<ChoreTurn>) => {
  const { now } = turn;
  const { deletion_due_at: time } = egresses;
  const due = { time, where: lte(time, now), indexed: and(not(egresses.is_held), isNotNull(time)) };
  const { id, recording_retention_days: days } = organizations;
  const tooOld = selectColumn(
    id,
    eq(id, egresses.organization_id),
    isOverdue(egresses.call_ended_at, days, now),
  );
  const isStillWanted = or(
    isNotNull(egresses.deletion_requested_by),
    isNull(egresses.call_id),
    sql`exists ${tooOld}`,
    exists(selectColumn(calls.id, eq(calls.id, egresses.call_id), isNotNull(calls.recordings_deleted_at))),
  );
  return (
    builder
      .update(egresses)
      // The new time is later than this run's, so that this run does not take the same deletions again.
      .set({ deletion_due_at: sql`iif(${isStillWanted}, ${now} + 1, null)` })
      .where(isInTurn(egresses, due, turn))
      .returning({ id: egresses.id })
  );
});

/**
 * The files of the selected recordings, if their deletion is scheduled and they are not under legal hold. A recording
 * without files has one row without a storage key.
 */
const filesWhere = <Values extends object>(isOne: (values: Placeholders<Values>) => SQL | undefined) =>
  preparedQuery((values: Placeholders<Values>) =>
    builder
      .select({ id: egresses.id, storage_key: egressFiles.storage_key })
      .from(egresses)
      .leftJoin(egressFiles, isFileLeft)
      .where(and(isOne(values), isNotNull(egresses.deletion_due_at), not(egresses.is_held))),
  );

const isFileLeft = and(eq(egressFiles.egress_id, egresses.id), not(egressFiles.is_deleted));

/** @param ids a JSON array */
export const filesOfDeletions = filesWhere(({ ids }: Placeholders<{ ids: string }>) =>
  inArray(egresses.id, jsonValues(ids)),
);

/** True for a recording whose call has ended and is not under legal hold. */
const isOfEndedCall = and(isNotNull(egresses.call_ended_at), not(egresses.is_held));

/**
 * The statements of a deletion request, to run in one transaction. `record` writes the access log entry of the first
 * request, and `schedule` schedules the deletion if it is allowed.
 */
const requestsWhere = <Values extends object>(
  isOne: (values: Placeholders<Values>) => SQL | undefined,
  isAllowed = and(eq(egresses.status, "egress_ended"), isOfEndedCall),
) => ({
  record: egressEntries<Values>((values) =>
    and(isOne(values), isAllowed, isNull(egresses.deletion_requested_by)),
  ),
  schedule: preparedQuery((values: Placeholders<Values & { user_id: number; now: number }>) =>
    builder
      .update(egresses)
      .set({
        deletion_requested_by: coalesce(egresses.deletion_requested_by, values.user_id),
        deletion_due_at: sql`${values.now}`,
      })
      .where(and(isOne(values as Placeholders<Values>), isAllowed))
      .returning({ id: egresses.id }),
  ),
  known: rowsWhere(egresses, { status: egresses.status, is_held: egresses.is_held }, isOne),
  files: filesWhere(isOne),
});

export type RequestOf<Values extends object> = ReturnType<typeof requestsWhere<Values>>;

export const deletionByKey = requestsWhere((egress: Placeholders<EgressKey>) => hasEgressKey(egress));

/** Requests by a client that reaches the call. Without effect if the client does not act as an administrator. */
export const deletionByPath = requestsWhere(
  (egress: Placeholders<ReachedEgress & Pick<Caller, "api_client_id">>) =>
    and(
      eq(egresses.id, egress.egress_id),
      eq(egresses.call_id, callIdOfPath(egress)),
      isAdministrator(egress),
    ),
);

/**
 * Requests for all recordings of calls. As in retention, a recording need not have ended: its end may never be reported. `call_ids` is
 * a JSON array.
 */
export const deletionByCalls = requestsWhere(
  ({ call_ids }: Placeholders<{ call_ids: string }>) => inArray(egresses.call_id, jsonValues(call_ids)),
  and(isOfEndedCall, ne(egresses.status, DELETED)),
);

export const filesOfRequests = filesWhere(
  ({ organization_id, now }: Placeholders<{ organization_id: number; now: number }>) =>
    and(
      hasValues(egresses, { organization_id, deletion_due_at: now }),
      isNotNull(egresses.deletion_requested_by),
    ),
);

/** The recordings to delete, and the storage keys of files that are gone, both as JSON arrays. */
interface DeletionAttempt {
  ids: string;
  gone: string;
  now: number;
}

const { egress_id, storage_key, is_deleted } = egressFiles;

export const markFilesDeleted = preparedQuery(({ ids, gone }: Placeholders<DeletionAttempt>) =>
  builder
    .update(egressFiles)
    .set({ is_deleted: true })
    .where(and(inArray(egress_id, jsonValues(ids)), inArray(storage_key, jsonValues(gone)), not(is_deleted))),
);

const hasNoFile = ({ ids }: Placeholders<DeletionAttempt>) =>
  and(
    inArray(egresses.id, jsonValues(ids)),
    or(ne(egresses.status, DELETED), isNotNull(egresses.deletion_due_at)),
    notExists(selectColumn(egressFiles.storage_key, isFileLeft)),
  );

/**
 * The entries of the recordings that `finishDeletions` marks later in the same transaction, even if only a file that a
 * late report named was deleted. Requested deletions already have an entry.
 */
export const deletionEntries = egressEntries((attempt: Placeholders<DeletionAttempt>) =>
  and(hasNoFile(attempt), or(isNull(egresses.deletion_requested_by), eq(egresses.status, DELETED))),
);

/**
 * Marks the recordings that have no file left. A recording that got another file in the meantime stays due. For a
 * recording that was already deleted, and whose new file a late report named, nothing visible changes.
 */
export const finishDeletions = preparedQuery((attempt: Placeholders<DeletionAttempt>) =>
  builder
    .update(egresses)
    .set({
      status: EGRESS_DELETED,
      is_stopped: true,
      deletion_requested_by: null,
      deletion_due_at: null,
      check_at: null,
      changed_by_user_id: egresses.deletion_requested_by,
      updated_at: sql`iif(${egresses.status} = ${DELETED}, ${egresses.updated_at}, ${attempt.now})`,
    })
    .where(hasNoFile(attempt)),
);

export const unfinishedDeletions = preparedQuery(({ ids }: Placeholders<{ ids: string }>) =>
  selectColumn(egresses.id, inArray(egresses.id, jsonValues(ids)), isNotNull(egresses.deletion_due_at)),
);
