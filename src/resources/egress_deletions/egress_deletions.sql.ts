import { and, eq, inArray, isNotNull, isNull, lte, ne, not, notExists, or, type SQL, sql } from "drizzle-orm";
import type { Caller } from "../../context.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { coalesce } from "../../database/expressions.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isNotQuiet } from "../../database/quiet.ts";
import { isOverdue, isPastRetention } from "../../database/retention.ts";
import { egresses, egressFiles, organizations } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { isInTurn, ownerIdOf, type Turn } from "../../database/turns.ts";
import { isAdministrator } from "../api_clients/api_clients.sql.ts";
import { callIdOfPath } from "../calls/calls.sql.ts";
import { type EgressKey, egressEntries, hasEgressKey, type ReachedEgress } from "../egresses/egresses.sql.ts";

/* The statements of a deletion: see egress_deletions.service.ts. */

/** The status as SQL, because SQLite uses an index only for the words of its WHERE. */
const DELETED = sql.raw(`'${EGRESS_DELETED}'`);

/** A portion of the deletions, in which each organization has its turn. */
type DeletionsTurn = Turn & { now: number };

/** Schedules the deletion of recordings that have become too old: at most a portion. */
export const scheduleExpiredDeletions = preparedQuery((turn: Placeholders<DeletionsTurn>) =>
  builder
    .update(egresses)
    .set({ deletion_due_at: sql`${turn.now}` })
    .where(
      isPastRetention(
        egresses,
        {
          time: egresses.call_ended_at,
          days: organizations.recording_retention_days,
          where: and(not(egresses.is_held), isNull(egresses.deletion_due_at), ne(egresses.status, DELETED)),
        },
        turn,
      ),
    ),
);

/**
 * Takes the deletions of each organization that have been due longest: at most a portion. What fails goes behind its others,
 * so that a file that can never be deleted does not hold them up. A recording that is not too old any more, because its
 * organization wants to keep it for longer, stays.
 */
export const takeDueDeletions = preparedQuery((turn: Placeholders<DeletionsTurn>) => {
  const { now } = turn;
  const isScheduled = and(not(egresses.is_held), isNotNull(egresses.deletion_due_at));
  const { deletion_due_at: time } = egresses;
  const due = { time, where: lte(time, now), indexed: isScheduled };
  const { id, recording_retention_days: days } = organizations;
  const tooOld = selectColumn(
    id,
    eq(id, egresses.organization_id),
    isOverdue(egresses.call_ended_at, days, now),
  );
  const isStillWanted = or(isNotNull(egresses.deletion_requested_by), sql`exists ${tooOld}`);
  return (
    builder
      .update(egresses)
      // After this run's own time, so that it does not take them again.
      .set({ deletion_due_at: sql`iif(${isStillWanted}, ${now} + 1, null)` })
      .where(and(isInTurn(egresses, due, turn), isNotQuiet()))
      .returning({ id: egresses.id, owner_id: ownerIdOf(egresses.organization_id) })
  );
});

/**
 * The files of those of the recordings that are to be deleted and not under legal hold. A recording without a file has one row, without
 * a storage key. While the database is quiet there are none.
 *
 * @param isOne true for one of the recordings
 */
const filesWhere = <Values extends object>(isOne: (values: Placeholders<Values>) => SQL | undefined) =>
  preparedQuery((values: Placeholders<Values>) =>
    builder
      .select({ id: egresses.id, storage_key: egressFiles.storage_key })
      .from(egresses)
      .leftJoin(egressFiles, isFileLeft)
      .where(and(isOne(values), isNotNull(egresses.deletion_due_at), not(egresses.is_held), isNotQuiet())),
  );

/** True for a file of a recording that was not deleted yet. */
const isFileLeft = and(eq(egressFiles.egress_id, egresses.id), not(egressFiles.is_deleted));

/** `ids` is a JSON array. */
export const filesOfDeletions = filesWhere(({ ids }: Placeholders<{ ids: string }>) =>
  inArray(egresses.id, jsonValues(ids)),
);

/** True for a recording that may be deleted: it has ended, so has its call, and the call is not under legal hold. */
const isDeletable = and(
  eq(egresses.status, "egress_ended"),
  isNotNull(egresses.call_ended_at),
  not(egresses.is_held),
);

/**
 * The statements of a request for a deletion, which run in one transaction: the entry of who asks, if nobody has asked yet; the
 * deletion is scheduled, if the recording may be deleted; what is known of it; and the files to delete.
 *
 * @param isOne true for the recording that is to be deleted
 */
const requestsWhere = <Values extends object>(isOne: (values: Placeholders<Values>) => SQL | undefined) => ({
  record: egressEntries<Values>((values) =>
    and(isOne(values), isDeletable, isNull(egresses.deletion_requested_by)),
  ),
  schedule: preparedQuery((values: Placeholders<Values & { user_id: number; now: number }>) =>
    builder
      .update(egresses)
      .set({
        deletion_requested_by: coalesce(egresses.deletion_requested_by, values.user_id),
        deletion_due_at: sql`${values.now}`,
      })
      .where(and(isOne(values as Placeholders<Values>), isDeletable))
      .returning({ id: egresses.id }),
  ),
  known: preparedQuery((values: Placeholders<Values>) =>
    builder
      .select({ status: egresses.status, is_held: egresses.is_held })
      .from(egresses)
      .where(isOne(values)),
  ),
  files: filesWhere(isOne),
});

export type RequestOf<Values extends object> = ReturnType<typeof requestsWhere<Values>>;

/** Requests of the platform. */
export const deletionByKey = requestsWhere((egress: Placeholders<EgressKey>) => hasEgressKey(egress));

/** Requests of a client, for a recording of a call that it reaches: nothing happens if it does not act as an administrator. */
export const deletionByPath = requestsWhere(
  (egress: Placeholders<ReachedEgress & Pick<Caller, "api_client_id">>) =>
    and(
      eq(egresses.id, egress.egress_id),
      eq(egresses.call_id, callIdOfPath(egress)),
      isAdministrator(egress),
    ),
);

/** The recordings to delete, and those of their files that are gone: both as JSON arrays. */
interface DeletionAttempt {
  ids: string;
  gone: string;
  now: number;
}

export const markFilesDeleted = preparedQuery(({ ids, gone }: Placeholders<DeletionAttempt>) =>
  builder
    .update(egressFiles)
    .set({ is_deleted: true })
    .where(
      and(
        inArray(egressFiles.egress_id, jsonValues(ids)),
        inArray(egressFiles.storage_key, jsonValues(gone)),
        not(egressFiles.is_deleted),
      ),
    ),
);

/** True for those of the recordings that have no file any more. */
function hasNoFile({ ids }: Placeholders<DeletionAttempt>) {
  const left = selectColumn(egressFiles.storage_key, isFileLeft);
  return and(
    inArray(egresses.id, jsonValues(ids)),
    or(ne(egresses.status, DELETED), isNotNull(egresses.deletion_due_at)),
    notExists(left),
  );
}

/**
 * The entries of those that `finishDeletions` then marks, in the same transaction, also of a file that a late report named. A
 * request has its entry.
 */
export const deletionEntries = egressEntries((attempt: Placeholders<DeletionAttempt>) =>
  and(hasNoFile(attempt), or(isNull(egresses.deletion_requested_by), eq(egresses.status, DELETED))),
);

/**
 * Marks the recordings that have no file any more. One that got another file meanwhile stays due. One that was
 * deleted before, and whose file a late report named, shows no change.
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
