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
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { builder, namedQuery, type Placeholders, type Value } from "../../database/queries.ts";
import { expiredIds, isExpired } from "../../database/retention.ts";
import { egresses, organizations, replacedFiles } from "../../database/schema.ts";
import { RECORDINGS_CLAIMED } from "../../limits.ts";

/* The statements of a deletion: see egresses.deletion.ts. */

/** A file of a claimed recording; `storage_key` is null where the recording has none. */
export interface ClaimedFile {
  egress_id: number;
  storage_key: string | null;
  /** Whether a recording needs the file that is not to be deleted now. */
  is_shared: boolean;
}

/** The status as SQL, because SQLite uses an index only for the words of its WHERE. */
const DELETED = sql.raw(`'${EGRESS_DELETED}'`);

const others = alias(egresses, "others");

const isShared = (storage_key: SQLWrapper, ids: SQL) =>
  exists(
    builder
      .select({ id: others.id })
      .from(others)
      .where(
        and(eq(others.storage_key, storage_key), ne(others.status, DELETED), sql`${others.id} not in ${ids}`),
      ),
  );

/** Selects the files of the recordings: those that they name now, and those that they named before. */
function selectFiles(ids: SQL) {
  const shared = (storage_key: SQLWrapper) =>
    sql<boolean>`${isShared(storage_key, ids)}`.mapWith(Boolean).as("is_shared");
  return builder
    .select({
      egress_id: sql<number>`${egresses.id}`.as("egress_id"),
      storage_key: egresses.storage_key,
      is_shared: shared(egresses.storage_key),
    })
    .from(egresses)
    .where(inArray(egresses.id, ids))
    .union(
      builder
        .select({
          egress_id: replacedFiles.egress_id,
          storage_key: replacedFiles.storage_key,
          is_shared: shared(replacedFiles.storage_key),
        })
        .from(replacedFiles)
        .where(inArray(replacedFiles.egress_id, ids)),
    );
}

const idByKey = (egress_id: Value<string>) =>
  builder.select({ id: egresses.id }).from(egresses).where(eq(egresses.egress_id, egress_id));

/** Claims the deletion that the platform wants, unless the call is under legal hold or the recording has not ended. */
export const claimRequested = namedQuery(
  ({ egress_id, now }: Placeholders<{ egress_id: string; now: number }>) =>
    builder
      .update(egresses)
      .set({ deletion_requested: true, deletion_due_at: sql`${now}` })
      .where(
        and(eq(egresses.egress_id, egress_id), eq(egresses.status, "egress_ended"), not(egresses.is_held)),
      ),
);

/** What says why a claim was refused. */
export const deletionStateByKey = namedQuery(({ egress_id }: Placeholders<{ egress_id: string }>) =>
  builder
    .select({ status: egresses.status, is_held: egresses.is_held })
    .from(egresses)
    .where(eq(egresses.egress_id, egress_id)),
);

export const filesByKey = namedQuery(({ egress_id }: Placeholders<{ egress_id: string }>) =>
  selectFiles(sql`${idByKey(egress_id)}`),
);

/** Claims the deletion of recordings that have become too old: at most a portion. */
export const claimExpired = namedQuery(({ now }: Placeholders<{ now: number }>) =>
  builder
    .update(egresses)
    .set({ deletion_due_at: sql`${now}` })
    .where(
      inArray(
        egresses.id,
        expiredIds(
          egresses,
          organizations.recording_retention_days,
          now,
          RECORDINGS_CLAIMED,
          and(isNull(egresses.deletion_due_at), ne(egresses.status, DELETED)),
        ),
      ),
    ),
);

/**
 * Takes the claims that have waited longest: at most a portion. What fails goes behind all others, so that a file that
 * can never be deleted does not hold them up. A recording that is not too old any more, because its organization wants
 * to keep it for longer, loses its claim.
 */
export const takeClaims = namedQuery(({ now }: Placeholders<{ now: number }>) => {
  const due = builder
    .select({ id: egresses.id })
    .from(egresses)
    .where(
      and(not(egresses.is_held), isNotNull(egresses.deletion_due_at), lte(egresses.deletion_due_at, now)),
    )
    .orderBy(asc(egresses.deletion_due_at))
    .limit(RECORDINGS_CLAIMED);
  const isStillWanted = or(
    eq(egresses.deletion_requested, true),
    isExpired(egresses, organizations.recording_retention_days, now),
  );
  return (
    builder
      .update(egresses)
      // After this run's own time, so that it does not take them again.
      .set({ deletion_due_at: sql`iif(${isStillWanted}, ${now} + 1, null)` })
      .where(inArray(egresses.id, due))
      .returning({ id: egresses.id })
  );
});

/** Selects the values of a JSON array. */
const valuesOf = (list: Value<string>) => sql`(select value from json_each(${list}))`;

export const filesOfClaims = namedQuery(({ ids }: Placeholders<{ ids: string }>) =>
  selectFiles(
    sql`${builder
      .select({ id: egresses.id })
      .from(egresses)
      .where(
        and(inArray(egresses.id, valuesOf(ids)), isNotNull(egresses.deletion_due_at), not(egresses.is_held)),
      )}`,
  ),
);

/** The claimed recordings, and which of their files are gone: both as JSON arrays. */
interface Attempt {
  ids: string;
  gone: string;
  now: number;
}

/** True for a file that this recording does not keep any more: it is gone, or left to another recording. */
const isReleased = (storage_key: SQLWrapper, { ids, gone }: Placeholders<Attempt>) =>
  or(sql`${storage_key} in ${valuesOf(gone)}`, isShared(storage_key, valuesOf(ids)));

export const forgetReplacedFiles = namedQuery((attempt: Placeholders<Attempt>) =>
  builder
    .delete(replacedFiles)
    .where(
      and(
        inArray(replacedFiles.egress_id, valuesOf(attempt.ids)),
        isReleased(replacedFiles.storage_key, attempt),
      ),
    ),
);

/**
 * Marks the recordings that have no file any more. One that got another file meanwhile stays claimed. One that was
 * deleted before, and whose file a late report named, shows no change.
 */
export const finishClaims = namedQuery((attempt: Placeholders<Attempt>) => {
  const leftFiles = builder
    .select({ storage_key: replacedFiles.storage_key })
    .from(replacedFiles)
    .where(eq(replacedFiles.egress_id, egresses.id));
  return builder
    .update(egresses)
    .set({
      status: EGRESS_DELETED,
      is_stopped: true,
      deletion_requested: false,
      deletion_due_at: null,
      check_at: null,
      updated_at: sql`iif(${egresses.status} = ${DELETED}, ${egresses.updated_at}, ${attempt.now})`,
    })
    .where(
      and(
        inArray(egresses.id, valuesOf(attempt.ids)),
        or(ne(egresses.status, DELETED), isNotNull(egresses.deletion_due_at)),
        notExists(leftFiles),
        or(isNull(egresses.storage_key), isReleased(egresses.storage_key, attempt)),
      ),
    );
});

export const unfinishedClaims = namedQuery(({ ids }: Placeholders<{ ids: string }>) =>
  builder
    .select({ id: egresses.id })
    .from(egresses)
    .where(and(inArray(egresses.id, valuesOf(ids)), isNotNull(egresses.deletion_due_at))),
);
