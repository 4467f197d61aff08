import {
  and,
  asc,
  eq,
  exists,
  inArray,
  isNotNull,
  isNull,
  lte,
  ne,
  not,
  notExists,
  notInArray,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isNotQuiet } from "../../database/quiet.ts";
import { isPastRetention, pastRetentionInTurn } from "../../database/retention.ts";
import { egresses, organizations, replacedFiles } from "../../database/schema.ts";
import { eachOf, ownerIdOf, rowsInTurn, type Turn } from "../../database/turns.ts";
import { egressEntries } from "./egresses.sql.ts";

/* The statements of a deletion: see egresses.deletion.ts. */

/** The status as SQL, because SQLite uses an index only for the words of its WHERE. */
const DELETED = sql.raw(`'${EGRESS_DELETED}'`);

const others = alias(egresses, "others");

const formerFiles = alias(replacedFiles, "former_files");

/** True for a file that a recording has which is not to be deleted now, or that a recording under legal hold ever had. */
function isShared(storage_key: SQLWrapper, ids: SQLWrapper) {
  const isOther = notInArray(others.id, ids);
  const hasFile = and(
    eq(others.storage_key, storage_key),
    or(others.is_held, ne(others.status, DELETED)),
    isOther,
  );
  return or(
    exists(builder.select({ id: others.id }).from(others).where(hasFile)),
    exists(
      builder
        .select({ id: formerFiles.id })
        .from(formerFiles)
        .innerJoin(others, eq(others.id, formerFiles.egress_id))
        .where(and(eq(formerFiles.storage_key, storage_key), others.is_held, isOther)),
    ),
  );
}

/** Claims the deletion that the platform wants, unless the call is under legal hold or the recording has not ended. */
export const claimRequested = preparedQuery(
  ({ egress_id, now }: Placeholders<{ egress_id: string; now: number }>) =>
    builder
      .update(egresses)
      .set({ deletion_requested: true, deletion_due_at: sql`${now}` })
      .where(
        and(eq(egresses.egress_id, egress_id), eq(egresses.status, "egress_ended"), not(egresses.is_held)),
      )
      .returning({ egress_id: egresses.egress_id }),
);

/** A portion of the claims, in which each organization has its turn. */
type ClaimsTurn = Turn & { now: number };

/** Claims the deletion of recordings that have become too old: at most a portion. */
export const claimExpired = preparedQuery((claims: Placeholders<ClaimsTurn>) =>
  builder
    .update(egresses)
    .set({ deletion_due_at: sql`${claims.now}` })
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
          claims.now,
          claims,
        ),
      ),
    ),
);

/**
 * Takes the claims of each organization that have waited longest: at most a portion. What fails goes behind its others,
 * so that a file that can never be deleted does not hold them up. A recording that is not too old any more, because its
 * organization wants to keep it for longer, loses its claim.
 */
export const takeClaims = preparedQuery((claims: Placeholders<ClaimsTurn>) => {
  const { now } = claims;
  const isClaimed = and(not(egresses.is_held), isNotNull(egresses.deletion_due_at));
  const dueOf = (organization_id: SQL) =>
    builder
      .select({ id: egresses.id })
      .from(egresses)
      .where(
        and(eq(egresses.organization_id, organization_id), isClaimed, lte(egresses.deletion_due_at, now)),
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
            rowsInTurn(egresses, eachOf(egresses.organization_id, isClaimed), dueOf, claims),
          ),
          isNotQuiet(),
        ),
      )
      .returning({
        egress_id: egresses.egress_id,
        owner_id: ownerIdOf(egresses.organization_id),
      })
  );
});

/**
 * The files of those of the recordings that are claimed and not under legal hold: those that they name now, and those that
 * they named before. A recording without a file has one row, without a storage key. While the database is quiet there are
 * none. `egress_ids` is a JSON array.
 */
export const filesOfClaims = preparedQuery(({ egress_ids }: Placeholders<{ egress_ids: string }>) => {
  const claimed = builder
    .select({ id: egresses.id })
    .from(egresses)
    .where(
      and(
        inArray(egresses.egress_id, jsonValues(egress_ids)),
        isNotNull(egresses.deletion_due_at),
        not(egresses.is_held),
        isNotQuiet(),
      ),
    );
  const files = builder
    .select({ id: egresses.id, storage_key: egresses.storage_key })
    .from(egresses)
    .where(inArray(egresses.id, claimed))
    .union(
      builder
        .select({ id: replacedFiles.egress_id, storage_key: replacedFiles.storage_key })
        .from(replacedFiles)
        .where(inArray(replacedFiles.egress_id, claimed)),
    )
    .as("files");
  const is_shared = sql`${isShared(files.storage_key, claimed)}`.mapWith(Boolean).as("is_shared");
  return builder.select({ id: files.id, storage_key: files.storage_key, is_shared }).from(files);
});

/** The claimed recordings, and which of their files are gone: both as JSON arrays. */
interface DeletionAttempt {
  ids: string;
  gone: string;
  now: number;
}

/** True for a file that this recording does not keep any more: it is gone, or left to another recording. */
const isReleased = (storage_key: SQLWrapper, { ids, gone }: Placeholders<DeletionAttempt>) =>
  or(inArray(storage_key, jsonValues(gone)), isShared(storage_key, jsonValues(ids)));

export const forgetReplacedFiles = preparedQuery((attempt: Placeholders<DeletionAttempt>) =>
  builder
    .delete(replacedFiles)
    .where(
      and(
        inArray(replacedFiles.egress_id, jsonValues(attempt.ids)),
        isReleased(replacedFiles.storage_key, attempt),
      ),
    ),
);

/** True for the claimed recordings that have no file any more. */
function hasNoFile(attempt: Placeholders<DeletionAttempt>) {
  const leftFiles = builder
    .select({ storage_key: replacedFiles.storage_key })
    .from(replacedFiles)
    .where(eq(replacedFiles.egress_id, egresses.id));
  return and(
    inArray(egresses.id, jsonValues(attempt.ids)),
    or(ne(egresses.status, DELETED), isNotNull(egresses.deletion_due_at)),
    notExists(leftFiles),
    or(isNull(egresses.storage_key), isReleased(egresses.storage_key, attempt)),
  );
}

/** The entries of those that `finishClaims` then marks, in the same transaction: also of a file that a late report named. */
export const deletionEntries = egressEntries(hasNoFile);

/**
 * Marks the recordings that have no file any more. One that got another file meanwhile stays claimed. One that was
 * deleted before, and whose file a late report named, shows no change.
 */
export const finishClaims = preparedQuery((attempt: Placeholders<DeletionAttempt>) =>
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

export const unfinishedClaims = preparedQuery(({ ids }: Placeholders<{ ids: string }>) =>
  builder
    .select({ id: egresses.id })
    .from(egresses)
    .where(and(inArray(egresses.id, jsonValues(ids)), isNotNull(egresses.deletion_due_at))),
);
