import { eq, sql } from "drizzle-orm";
import type { ClientContext, Context } from "../../context.ts";
import { writeDecision } from "../../database/decisions.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { builder, namedQuery, type Placeholders, runBatch } from "../../database/queries.ts";
import { egresses } from "../../database/schema.ts";
import { ApiError, notFound, unprocessable } from "../../http/errors.ts";
import { FILE_DELETION_RETRY_AFTER, FILE_DELETIONS_TIME_LIMIT, RECORDINGS_DELETED } from "../../limits.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { callByKey, callOfPath, reachedCall, UNDER_LEGAL_HOLD } from "../calls/calls.sql.ts";
import { insertReadEntry } from "../egress_audit_logs/egress_audit_logs.sql.ts";
import {
  claimRequested,
  deleteClaimed,
  deletePortion,
  deletionStateByKey,
  filesByKey,
} from "./egresses.deletion.ts";
import { presignDownload } from "./egresses.download.ts";
import { type EgressRecord, mergeEgress } from "./egresses.merge.ts";
import type { Egress, EgressReport } from "./egresses.schemas.ts";
import {
  egressByKey,
  egressColumns,
  egressesOfPath,
  memberOfReport,
  openEgressOfPath,
} from "./egresses.sql.ts";

/** The recordings of an ended call to which all its participants consented; otherwise an empty list. */
export async function listEgresses({ db, caller }: ClientContext, path: CallPath): Promise<Egress[]> {
  const reached = reachedCall(caller, path);
  const [[call], recordings] = await runBatch(db, [callOfPath(reached), egressesOfPath(reached)]);
  if (!call) throw notFound("Call");
  return recordings;
}

/**
 * One recording, with a download URL, and the audit entry of this read: both are one transaction, and without the
 * entry there is no URL (contract, section "Egresses", rule 3).
 */
export async function readEgress(
  context: ClientContext,
  path: CallPath,
  egress_id: number,
): Promise<Egress & { url: string | null }> {
  const { db, now, caller } = context;
  const reached = { ...reachedCall(caller, path), egress_id };
  const [[egress], [entry]] = await runBatch(db, [
    openEgressOfPath(reached),
    insertReadEntry({ ...reached, user_id: caller.user_id, now }),
  ]);
  if (!egress) throw notFound("Egress");
  if (!entry) throw new Error("The read of an egress left no audit entry");
  const { status, storage_key } = egress;
  const hasFile = storage_key !== null && status !== EGRESS_DELETED;
  return { ...egress, url: hasFile ? await presignDownload(context, storage_key, entry.id) : null };
}

/**
 * Deletes the file of a recording that has ended, and then marks the recording as deleted. To repeat it changes nothing.
 * If the storage fails, the deletion stays claimed: the cron finishes it.
 */
export async function deleteEgress(context: Context, egress_id: string): Promise<void> {
  const { db, now } = context;
  const [, [egress], files] = await runBatch(db, [
    claimRequested({ egress_id, now }),
    deletionStateByKey({ egress_id }),
    filesByKey({ egress_id }),
  ]);
  if (!egress) throw notFound("Egress");
  if (egress.status === EGRESS_DELETED) return;
  if (egress.is_held) throw unprocessable(UNDER_LEGAL_HOLD);
  if (egress.status !== "egress_ended") throw unprocessable("The egress has not ended: report its end first");
  const { failed } = await deleteClaimed(context, files);
  if (failed > 0)
    throw new ApiError(503, "The file could not be deleted now: the service goes on trying", {
      headers: { "Retry-After": String(FILE_DELETION_RETRY_AFTER) },
      reason: "file_not_deleted",
    });
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
    const { claimed, failed } = await deletePortion(context);
    total.claimed += claimed;
    total.failed += failed;
    // Nothing is left, or the storage is down.
    if (claimed === failed) break;
  }
  return total.claimed - total.failed;
}

/** Records what is known of a recording. Triggers write the audit entry of its creation, or of what changed. */
export async function reportEgress(
  { db, now }: Context,
  egress_id: string,
  report: EgressReport,
): Promise<Egress> {
  // No call has an empty key.
  const { call_key = "", user_id = null } = report;
  return writeDecision(
    db,
    [
      egressByKey({ egress_id }),
      callByKey({ key: call_key }),
      memberOfReport({ egress_id, call_key, user_id }),
    ],
    ([known], [call], [member]) => {
      const next = mergeEgress(known, report, { call, isMember: member !== undefined }, now);
      if (!known) return { writes: [insertEgress({ egress_id, ...next })] };
      return next === known ? { unchanged: known } : { writes: [updateEgress({ id: known.id, ...next })] };
    },
  );
}

const insertEgress = namedQuery((egress: Placeholders<EgressRecord & { egress_id: string }>) =>
  builder
    .insert(egresses)
    .values({
      organization_id: egress.organization_id,
      call_id: egress.call_id,
      egress_id: egress.egress_id,
      status: egress.status,
      error: egress.error,
      is_stopped: egress.is_stopped,
      ended_at: egress.ended_at,
      storage_key: egress.storage_key,
      changed_by_user_id: egress.changed_by_user_id,
      created_at: egress.created_at,
      updated_at: egress.updated_at,
    })
    .returning(egressColumns),
);

const updateEgress = namedQuery((egress: Placeholders<EgressRecord & { id: number }>) =>
  builder
    .update(egresses)
    .set({
      status: sql`${egress.status}`,
      error: sql`${egress.error}`,
      is_stopped: sql`${egress.is_stopped}`,
      ended_at: sql`${egress.ended_at}`,
      storage_key: sql`${egress.storage_key}`,
      changed_by_user_id: sql`${egress.changed_by_user_id}`,
      updated_at: sql`${egress.updated_at}`,
    })
    .where(eq(egresses.id, egress.id))
    .returning(egressColumns),
);
