import type { Context } from "../../context.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { runAll, runBatch } from "../../database/queries.ts";
import { quietSince } from "../../database/quiet.ts";
import { takeTurns } from "../../database/turns.ts";
import { log } from "../../http/log.ts";
import { FILE_DELETIONS_TIME_LIMIT, RECORDINGS_CLAIMED, RECORDINGS_DELETED } from "../../limits.ts";
import { callUnderLegalHold } from "../calls/calls.refusals.ts";
import {
  claimExpired,
  claimRequested,
  deletionEntries,
  filesOfClaim,
  filesOfClaims,
  finishClaims,
  markFilesDeleted,
  takeClaims,
  unfinishedClaims,
} from "./egresses.claims.ts";
import { deleteFiles } from "./egresses.files.ts";
import { egressNotEnded, egressNotFound, fileKeptWhileQuiet, fileNotDeleted } from "./egresses.refusals.ts";
import { type EgressKey, egressByKey } from "./egresses.sql.ts";

/*
 * A recording is deleted in three steps. Its deletion is claimed: one statement sets `deletion_due_at`, unless something
 * forbids the deletion. Then its files are deleted. Then the row says so. What fails after the first step stays claimed,
 * and the cron tries again; a legal hold that comes meanwhile stops it.
 */

/**
 * Deletes the file of a recording that has ended, and then marks the recording as deleted. To repeat it changes nothing.
 * If the storage fails, or while the database is quiet, the deletion stays claimed: the cron finishes it.
 */
export async function deleteEgress(context: Context, path: EgressKey): Promise<void> {
  const { db, now } = context;
  const [[claim], [egress], files, [quiet]] = await runBatch(db, [
    claimRequested({ ...path, now }),
    egressByKey(path),
    filesOfClaim(path),
    quietSince({}),
  ]);
  if (!egress) throw egressNotFound();
  if (egress.status === EGRESS_DELETED) return;
  if (!claim) throw egress.is_held ? callUnderLegalHold() : egressNotEnded();
  if (quiet) throw fileKeptWhileQuiet();
  const { failed } = await deleteClaimed(context, files);
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
  const total = { claimed: 0, failed: 0 };
  while (total.claimed < RECORDINGS_DELETED && Date.now() < deadline) {
    const files = await claimFiles(context, Math.min(RECORDINGS_CLAIMED, RECORDINGS_DELETED - total.claimed));
    if (!files) break;
    const { claimed, failed } = await deleteClaimed(context, files);
    total.claimed += claimed;
    total.failed += failed;
    // The storage is down. Of what was taken, some may be kept after all.
    if (claimed > 0 && claimed === failed) break;
  }
  return total.claimed - total.failed;
}

/** How many recordings were claimed, and how many of them could not be deleted. */
interface Outcome {
  claimed: number;
  failed: number;
}

/** The files of a portion of the recordings that are too old, or whose deletion failed before; null if there is none. */
async function claimFiles({ db, now }: Context, portion: number): Promise<ClaimedFile[] | null> {
  const claims = await takeTurns(portion, async (turn) => {
    const [, taken] = await runBatch(db, [claimExpired({ ...turn, now }), takeClaims({ ...turn, now })]);
    return taken;
  });
  if (claims.length === 0) return null;
  return runAll(db, filesOfClaims({ ids: JSON.stringify(claims.map(({ id }) => id)) }));
}

/** A file of a claimed recording: see `filesOfClaims`. */
interface ClaimedFile {
  id: number;
  storage_key: string | null;
}

/** Deletes the files of claimed recordings, and marks those recordings that have none any more. */
async function deleteClaimed(context: Context, files: ClaimedFile[]): Promise<Outcome> {
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
    finishClaims(attempt),
    unfinishedClaims(attempt),
  ]);
  return { claimed: ids.length, failed: unfinished.length };
}
