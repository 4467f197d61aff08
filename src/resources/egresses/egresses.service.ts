import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { runBatch } from "../../database/queries.ts";
import { upsertIfChanged } from "../../database/table_writes.ts";
import { requireEntry } from "../access_logs/access_logs.entries.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { callByKey, callOfPath, reachedCall } from "../calls/calls.sql.ts";
import { insertReadEntry } from "../egress_audit_logs/egress_audit_logs.sql.ts";
import { memberById } from "../organization_users/organization_users.sql.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { organizationById } from "../organizations/organizations.sql.ts";
import { presignDownload } from "./egresses.files.ts";
import { mergeEgress } from "./egresses.merge.ts";
import { egressNotFound } from "./egresses.refusals.ts";
import type { Egress, EgressReport } from "./egresses.schemas.ts";
import {
  type EgressKey,
  egressByKey,
  egressesOfPath,
  egressReadEntry,
  egressWrites,
  ownerOfFile,
  visibleEgressOfPath,
} from "./egresses.sql.ts";

/** The recordings of an ended call to which all its participants consented; otherwise an empty list. */
export async function listEgresses({ db, caller }: ClientContext, path: CallPath): Promise<Egress[]> {
  const reachedPath = reachedCall(caller, path);
  const [[call], recordings] = await runBatch(db, [callOfPath(reachedPath), egressesOfPath(reachedPath)]);
  if (!call) throw callNotFound();
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
  const reachedPath = { ...reachedCall(caller, path), egress_id };
  const [[egress], [entry], entries] = await runBatch(db, [
    visibleEgressOfPath(reachedPath),
    insertReadEntry({ ...reachedPath, user_id: caller.organization_user_id, now }),
    egressReadEntry(context, "read", reachedPath),
  ]);
  if (!egress) throw egressNotFound();
  if (!entry) throw new Error("The read of an egress left no audit entry");
  requireEntry(entries);
  const { status, storage_key } = egress;
  const hasFile = storage_key !== null && status !== EGRESS_DELETED;
  return { ...egress, url: hasFile ? await presignDownload(context, storage_key, entry.id) : null };
}

/** Records what is known of a recording. Triggers write the audit entry of its creation, or of what changed. */
export async function reportEgress(
  { db, now }: Context,
  path: EgressKey,
  report: EgressReport,
): Promise<Egress> {
  const { organization_id, egress_id } = path;
  // No call has an empty key, and nobody the id 0.
  const { call_key = "", user_id, storage_key = null } = report;
  return decideAndWrite(
    db,
    [
      organizationById({ id: organization_id }),
      egressByKey(path),
      callByKey({ organization_id, key: call_key }),
      memberById({ organization_id, id: user_id ?? 0 }),
      ownerOfFile({ organization_id, storage_key }),
    ],
    ([organization], [egress], [call], [member], [owner]) => {
      if (!organization) throw organizationNotFound();
      const fileOwner = owner?.egress_id;
      const known = { organization, egress, call, isMember: member !== undefined, fileOwner };
      return upsertIfChanged(egressWrites, egress, mergeEgress(known, egress_id, report, now));
    },
  );
}
