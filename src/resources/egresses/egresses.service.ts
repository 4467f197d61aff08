import { eq, sql } from "drizzle-orm";
import type { ClientContext, Context } from "../../context.ts";
import { writeDecision } from "../../database/decisions.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { builder, namedQuery, type Placeholders, runBatch } from "../../database/queries.ts";
import { egresses } from "../../database/schema.ts";
import { notFound } from "../../http/errors.ts";
import { EGRESS_SILENCE } from "../../limits.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { callByKey, callOfPath, reachedCall } from "../calls/calls.sql.ts";
import { insertReadEntry } from "../egress_audit_logs/egress_audit_logs.sql.ts";
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

/** Nothing is left to ask about a recording that has ended, or was deleted. */
const nextCheck = ({ status, updated_at }: Placeholders<Pick<EgressRecord, "status" | "updated_at">>) =>
  sql<number>`iif(${status} in ('egress_ended', ${EGRESS_DELETED}), null, ${updated_at} + ${EGRESS_SILENCE})`;

export const insertEgress = namedQuery((egress: Placeholders<EgressRecord & { egress_id: string }>) =>
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
      check_at: nextCheck(egress),
      created_at: egress.created_at,
      updated_at: egress.updated_at,
    })
    .returning(egressColumns),
);

export const updateEgress = namedQuery((egress: Placeholders<EgressRecord & { id: number }>) =>
  builder
    .update(egresses)
    .set({
      status: sql`${egress.status}`,
      error: sql`${egress.error}`,
      is_stopped: sql`${egress.is_stopped}`,
      ended_at: sql`${egress.ended_at}`,
      storage_key: sql`${egress.storage_key}`,
      changed_by_user_id: sql`${egress.changed_by_user_id}`,
      check_at: nextCheck(egress),
      updated_at: sql`${egress.updated_at}`,
    })
    .where(eq(egresses.id, egress.id))
    .returning(egressColumns),
);
