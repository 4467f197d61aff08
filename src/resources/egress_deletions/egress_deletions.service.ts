import type { ClientContext, Context } from "../../context.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { runAll, runBatch } from "../../database/queries.ts";
import { quietSince } from "../../database/quiet.ts";
import { takeTurns } from "../../database/turns.ts";
import { log } from "../../http/log.ts";
import { FILE_DELETIONS_TIME_LIMIT, RECORDING_DELETION_PORTION, RECORDINGS_DELETED } from "../../tuning.ts";
import { callUnderLegalHold } from "../calls/calls.refusals.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { reachedCall } from "../calls/calls.sql.ts";
import { deleteFiles } from "../egresses/egresses.files.ts";
import {
  egressNotEnded,
  egressNotFound,
  fileKeptWhileQuiet,
  fileNotDeleted,
} from "../egresses/egresses.refusals.ts";
import type { EgressKey } from "../egresses/egresses.sql.ts";
import { type Author, asAdministrator, asPlatform } from "../roles/roles.authors.ts";
import {
  deletionByKey,
  deletionByPath,
  deletionEntries,
  filesOfDeletions,
  finishDeletions,
  markFilesDeleted,
  type RequestOf,
  scheduleExpiredDeletions,
  takeDueDeletions,
  unfinishedDeletions,
} from "./egress_deletions.sql.ts";

/*
 * A recording is deleted in three steps. Its deletion is scheduled: one statement sets `deletion_due_at`, unless something
 * forbids the deletion. Then its files are deleted. Then the row says so. What fails after the first step stays due,
 * and the cron tries again; a legal hold that comes meanwhile stops it.
 */

export const deleteEgress = (context: Context, path: EgressKey) =>
  requestDeletion(context, asPlatform(path.organization_id), deletionByKey, path);

/** The same by a client of an administrator, for a recording of the organization. */
export async function deleteOwnEgress(context: ClientContext, path: CallPath, egress_id: number) {
  const { caller } = context;
  const reached = { ...reachedCall(caller, path), api_client_id: caller.api_client_id, egress_id };
  await requestDeletion(context, asAdministrator(caller, egressNotFound), deletionByPath, reached);
}

/**
 * Deletes the file of a recording that has ended, and then marks the recording as deleted. To repeat it changes nothing.
 * If the storage fails, or while the database is quiet, the deletion stays due: the cron finishes it.
 */
async function requestDeletion<Known, Path extends object>(
  context: Context,
  author: Author<Known>,
  request: RequestOf<Path>,
  path: Path,
): Promise<void> {
  const { db, now, requester } = context;
  const [[asking], , [scheduled], [egress], files, [quiet]] = await runBatch(db, [
    author.read,
    request.record(context, "delete", path),
    request.schedule({ ...path, user_id: requester.user_id, now }),
    request.known(path),
    request.files(path),
    quietSince({}),
  ]);
  author.require(asking);
  if (!egress) throw egressNotFound();
  if (egress.status === EGRESS_DELETED) return;
  if (!scheduled) throw egress.is_held ? callUnderLegalHold() : egressNotEnded();
  if (quiet) throw fileKeptWhileQuiet();
  const { failed } = await deleteScheduled(context, files);
  if (failed > 0) throw fileNotDeleted();
}

/**
 * Deletes recordings of calls that ended more days ago than their organization keeps them, and those whose deletion
 * failed before.
 *
 * @returns how many it deleted
 */
export async function deleteOldRecordings(context: Context): Promise<number> {
  const deadline = Date.now() + FILE_DELETIONS_TIME_LIMIT;
  const total = { tried: 0, failed: 0 };
  while (total.tried < RECORDINGS_DELETED && Date.now() < deadline) {
    const files = await takeFilesToDelete(
      context,
      Math.min(RECORDING_DELETION_PORTION, RECORDINGS_DELETED - total.tried),
    );
    if (!files) break;
    const { tried, failed } = await deleteScheduled(context, files);
    total.tried += tried;
    total.failed += failed;
    // The storage is down. Of what was taken, some may be kept after all.
    if (tried > 0 && tried === failed) break;
  }
  return total.tried - total.failed;
}

/** How many recordings were to be deleted, and how many of them could not be. */
interface Outcome {
  tried: number;
  failed: number;
}

/** The files of a portion of the recordings that are too old, or whose deletion failed before; null if there is none. */
async function takeFilesToDelete({ db, now }: Context, portion: number): Promise<FileToDelete[] | null> {
  const due = await takeTurns(portion, async (turn) => {
    const [, taken] = await runBatch(db, [
      scheduleExpiredDeletions({ ...turn, now }),
      takeDueDeletions({ ...turn, now }),
    ]);
    return taken;
  });
  if (due.length === 0) return null;
  return runAll(db, filesOfDeletions({ ids: JSON.stringify(due.map(({ id }) => id)) }));
}

/** A file of a recording to delete: see `filesOfDeletions`. */
interface FileToDelete {
  id: number;
  storage_key: string | null;
}

/** Deletes the files of recordings, and marks those recordings that have none any more. */
async function deleteScheduled(context: Context, files: FileToDelete[]): Promise<Outcome> {
  const ids = [...new Set(files.map(({ id }) => id))];
  const keys = files.flatMap(({ storage_key }) => storage_key ?? []);
  const failures = await deleteFiles(context, keys);
  for (const { id, storage_key } of files) {
    const reason = storage_key !== null && failures.get(storage_key);
    if (reason) log("file_deletion_failed", { egress_id: id, reason });
  }
  const gone = keys.filter((key) => !failures.has(key));
  const attempt = { ids: JSON.stringify(ids), gone: JSON.stringify(gone), now: context.now };
  const [, , , unfinished] = await runBatch(context.db, [
    markFilesDeleted(attempt),
    deletionEntries(context, "delete", attempt),
    finishDeletions(attempt),
    unfinishedDeletions(attempt),
  ]);
  return { tried: ids.length, failed: unfinished.length };
}
