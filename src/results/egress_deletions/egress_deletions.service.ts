import { callUnderLegalHold } from "../../calls/calls/calls.refusals.ts";
import type { CallPath } from "../../calls/calls/calls.schemas.ts";
import { reachedCall } from "../../calls/calls/calls.sql.ts";
import type { ClientContext, Context } from "../../context.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { runAll, runBatch } from "../../database/queries.ts";
import { quietSince } from "../../database/quiet.ts";
import { newTurn, workOff } from "../../database/turns.ts";
import { log } from "../../http/log.ts";
import { type Author, asAdministrator, asPlatform } from "../../organization/roles/roles.authors.ts";
import * as tuning from "../../tuning.ts";
import { deleteFiles } from "../egresses/egresses.files.ts";
import * as refusals from "../egresses/egresses.refusals.ts";
import type { EgressKey } from "../egresses/egresses.sql.ts";
import * as sql from "./egress_deletions.sql.ts";

/*
 * A recording is deleted in three steps. First its deletion is scheduled: one statement sets `deletion_due_at`, unless
 * something forbids the deletion. Then its files are deleted. Then the row is marked as deleted. A deletion that fails
 * after the first step stays due, and the cron tries again; a legal hold in the meantime stops it.
 */

export const deleteEgress = (context: Context, path: EgressKey) =>
  requestDeletion(context, asPlatform(path.organization_id), sql.deletionByKey, path);

export async function deleteOwnEgress(context: ClientContext, path: CallPath, egress_id: number) {
  const { caller } = context;
  const reached = { ...reachedCall(caller, path), api_client_id: caller.api_client_id, egress_id };
  await requestDeletion(context, asAdministrator(caller), sql.deletionByPath, reached);
}

/**
 * Deletes the file of an ended recording, and then marks the recording as deleted. Repeating this changes nothing.
 * If the storage fails, or the database is quiet, the deletion stays due, and the cron finishes it.
 */
async function requestDeletion<Known, Path extends object>(
  context: Context,
  author: Author<Known>,
  request: sql.RequestOf<Path>,
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
  if (!egress) throw refusals.egressNotFound();
  if (egress.status === EGRESS_DELETED) return;
  if (!scheduled) throw egress.is_held ? callUnderLegalHold() : refusals.egressNotEnded();
  if (quiet) throw refusals.fileKeptWhileQuiet();
  const { failed } = await deleteScheduled(context, files);
  if (failed > 0) throw refusals.fileNotDeleted();
}

/**
 * Deletes files of the recordings whose deletion was requested at `context.now`. The cron deletes the rest: those of another portion,
 * those that the storage refuses, and all of them if the database is quiet.
 */
export async function deleteRequestedFiles(context: Context, organization_id: number): Promise<void> {
  const { db, now } = context;
  const [files, [quiet]] = await runBatch(db, [
    sql.filesOfRequests({ organization_id, now }),
    quietSince({}),
  ]);
  const portion = files.slice(0, tuning.RECORDING_DELETION_PORTION);
  if (!quiet && portion.length > 0) await deleteScheduled(context, portion);
}

/**
 * Deletes recordings past their organization's retention, recordings whose call was not reported in time, and
 * recordings whose deletion failed before.
 */
export async function deleteOldRecordings(context: Context): Promise<number> {
  const { db, now } = context;
  const deadline = Date.now() + tuning.FILE_DELETIONS_TIME_LIMIT;
  let deleted = 0;
  let left = tuning.RECORDINGS_DELETED;
  await workOff(db, (turn) => sql.scheduleExpiredDeletions({ ...turn, now }));
  await workOff(db, (turn) => sql.scheduleUnclaimedDeletions({ ...turn, now }));
  while (left > 0 && Date.now() < deadline) {
    const turn = newTurn(tuning.OUTWARD_SHARE, Math.min(tuning.RECORDING_DELETION_PORTION, left));
    const due = await runAll(db, sql.takeDueDeletions({ ...turn, now }));
    if (due.length === 0) break;
    const files = await runAll(db, sql.filesOfDeletions({ ids: JSON.stringify(due.map(({ id }) => id)) }));
    const { tried, failed } = await deleteScheduled(context, files);
    left -= tried;
    deleted += tried - failed;
    // If all failed, the storage is down. Stop, because some of the recordings taken may be kept after all.
    if (due.length < tuning.OUTWARD_SHARE || (tried > 0 && tried === failed)) break;
  }
  return deleted;
}

async function deleteScheduled(context: Context, files: { id: number; storage_key: string | null }[]) {
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
    sql.markFilesDeleted(attempt),
    sql.deletionEntries(context, "delete", attempt),
    sql.finishDeletions(attempt),
    sql.unfinishedDeletions(attempt),
  ]);
  return { tried: ids.length, failed: unfinished.length };
}
