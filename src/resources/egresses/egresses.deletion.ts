import { type Context, shareOf } from "../../context.ts";
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
  filesOfClaims,
  finishClaims,
  forgetReplacedFiles,
  takeClaims,
  unfinishedClaims,
} from "./egresses.claims.ts";
import { deleteFiles } from "./egresses.files.ts";
import { egressNotEnded, egressNotFound, fileKeptWhileQuiet, fileNotDeleted } from "./egresses.refusals.ts";
import { egressByKey } from "./egresses.sql.ts";

/*
 * A recording is deleted in three steps. Its deletion is claimed: one statement sets `deletion_due_at`, unless something
 * forbids the deletion. Then its files are deleted. Then the row says so. What fails after the first step stays claimed,
 * and the cron tries again; a legal hold that comes meanwhile stops it.
 *
 * Several recordings of an organization can name the same file. The last of them to be deleted takes the file with it. But
 * one under legal hold keeps every file that it ever named, until it goes itself.
 */

/**
 * Deletes the file of a recording that has ended, and then marks the recording as deleted. To repeat it changes nothing.
 * If the storage fails, or while the database is quiet, the deletion stays claimed: the cron finishes it.
 */
export async function deleteEgress(context: Context, egress_id: string): Promise<void> {
  const { db, now } = context;
  const [[claim], [egress], files, [quiet]] = await runBatch(db, [
    claimRequested({ egress_id, now }),
    egressByKey({ egress_id }),
    filesOfClaims({ egress_ids: JSON.stringify([egress_id]) }),
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
  const portion = shareOf(context, RECORDINGS_DELETED);
  while (total.claimed < portion && Date.now() < deadline) {
    const { taken, claimed, failed } = await deletePortion(context);
    total.claimed += claimed;
    total.failed += failed;
    // Nothing is left, or the storage is down. Of what was taken, some may be kept after all.
    if (taken === 0 || (claimed > 0 && claimed === failed)) break;
  }
  return total.claimed - total.failed;
}

/** How many recordings were claimed, and how many of them could not be deleted. */
interface Outcome {
  claimed: number;
  failed: number;
}

/** Deletes a portion of the recordings that are too old, or whose deletion failed before. */
async function deletePortion(context: Context): Promise<Outcome & { taken: number }> {
  const { db, now } = context;
  const claims = await takeTurns(RECORDINGS_CLAIMED, async (turn) => {
    const [, taken] = await runBatch(db, [claimExpired({ ...turn, now }), takeClaims({ ...turn, now })]);
    return taken;
  });
  const taken = claims.length;
  if (taken === 0) return { taken, claimed: 0, failed: 0 };
  const egress_ids = JSON.stringify(claims.map(({ egress_id }) => egress_id));
  return { taken, ...(await deleteClaimed(context, await runAll(db, filesOfClaims({ egress_ids })))) };
}

/** A file of a claimed recording: see `filesOfClaims`. */
interface ClaimedFile {
  id: number;
  storage_key: string | null;
  is_shared: boolean;
}

/** Deletes the files of claimed recordings, and marks those recordings that have none any more. */
async function deleteClaimed(context: Context, files: ClaimedFile[]): Promise<Outcome> {
  const ids = [...new Set(files.map(({ id }) => id))];
  const keys = new Set(files.flatMap(({ storage_key, is_shared }) => (is_shared ? [] : (storage_key ?? []))));
  const failures = await deleteFiles(context, [...keys]);
  for (const { id, storage_key } of files) {
    const reason = storage_key !== null && failures.get(storage_key);
    if (reason) log("file_deletion_failed", { egress_id: id, reason });
  }
  const gone = [...keys].filter((key) => !failures.has(key));
  const attempt = { ids: JSON.stringify(ids), gone: JSON.stringify(gone), now: context.now };
  const [, , , unfinished] = await runBatch(context.db, [
    forgetReplacedFiles(attempt),
    deletionEntries(context, "delete", attempt),
    finishClaims(attempt),
    unfinishedClaims(attempt),
  ]);
  return { claimed: ids.length, failed: unfinished.length };
}
