import {
  and,
  asc,
  eq,
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
import { EGRESS_DELETED } from "../../database/enums.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isNotQuiet } from "../../database/quiet.ts";
import { isPastRetention, pastRetentionInTurn } from "../../database/retention.ts";
import { egresses, egressFiles, organizations } from "../../database/schema.ts";
import { eachOf, ownerIdOf, rowsInTurn, type Turn } from "../../database/turns.ts";
import { type EgressKey, egressEntries, hasEgressKey } from "../egresses/egresses.sql.ts";

/* The statements of a deletion: see egress_deletions.service.ts. */

/** The status as SQL, because SQLite uses an index only for the words of its WHERE. */
const DELETED = sql.raw(`'${EGRESS_DELETED}'`);

/** Schedules the deletion that the platform wants, unless the call is under legal hold or the recording has not ended. */
export const requestDeletion = preparedQuery((egress: Placeholders<EgressKey & { now: number }>) =>
  builder
    .update(egresses)
    .set({ deletion_requested: true, deletion_due_at: sql`${egress.now}` })
    .where(and(hasEgressKey(egress), eq(egresses.status, "egress_ended"), not(egresses.is_held)))
    .returning({ id: egresses.id }),
);

/** A portion of the deletions, in which each organization has its turn. */
type DeletionsTurn = Turn & { now: number };

/** Schedules the deletion of recordings that have become too old: at most a portion. */
export const scheduleExpiredDeletions = preparedQuery((turn: Placeholders<DeletionsTurn>) =>
  builder
    .update(egresses)
    .set({ deletion_due_at: sql`${turn.now}` })
    .where(
      inArray(
        egresses.id,
        pastRetentionInTurn(
          egresses,
          {
            time: egresses.call_ended_at,
            days: organizations.recording_retention_days,
            where: and(not(egresses.is_held), isNull(egresses.deletion_due_at), ne(egresses.status, DELETED)),
          },
          turn.now,
          turn,
        ),
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
  const dueOf = (organization_id: SQL) =>
    builder
      .select({ id: egresses.id })
      .from(egresses)
      .where(
        and(eq(egresses.organization_id, organization_id), isScheduled, lte(egresses.deletion_due_at, now)),
      )
      .orderBy(asc(egresses.deletion_due_at));
  const isStillWanted = or(
    eq(egresses.deletion_requested, true),
    isPastRetention(egresses, organizations.recording_retention_days, now),
  );
  return (
    builder
      .update(egresses)
      // After this run's own time, so that it does not take them again.
      .set({ deletion_due_at: sql`iif(${isStillWanted}, ${now} + 1, null)` })
      .where(
        and(
          inArray(
            egresses.id,
            rowsInTurn(egresses, eachOf(egresses.organization_id, isScheduled), dueOf, turn),
          ),
          isNotQuiet(),
        ),
      )
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

export const filesOfDeletion = filesWhere((egress: Placeholders<EgressKey>) => hasEgressKey(egress));

/** `ids` is a JSON array. */
export const filesOfDeletions = filesWhere(({ ids }: Placeholders<{ ids: string }>) =>
  inArray(egresses.id, jsonValues(ids)),
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
  const left = builder.select({ storage_key: egressFiles.storage_key }).from(egressFiles).where(isFileLeft);
  return and(
    inArray(egresses.id, jsonValues(ids)),
    or(ne(egresses.status, DELETED), isNotNull(egresses.deletion_due_at)),
    notExists(left),
  );
}

/** The entries of those that `finishDeletions` then marks, in the same transaction: also of a file that a late report named. */
export const deletionEntries = egressEntries(hasNoFile);

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
      deletion_requested: false,
      deletion_due_at: null,
      check_at: null,
      // A request for a deletion names no user.
      changed_by_user_id: null,
      updated_at: sql`iif(${egresses.status} = ${DELETED}, ${egresses.updated_at}, ${attempt.now})`,
    })
    .where(hasNoFile(attempt)),
);

export const unfinishedDeletions = preparedQuery(({ ids }: Placeholders<{ ids: string }>) =>
  builder
    .select({ id: egresses.id })
    .from(egresses)
    .where(and(inArray(egresses.id, jsonValues(ids)), isNotNull(egresses.deletion_due_at))),
);
