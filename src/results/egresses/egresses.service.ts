import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { callNotFound } from "../../calls/calls/calls.refusals.ts";
import type { CallPath } from "../../calls/calls/calls.schemas.ts";
import { callByKey, callOfPath, reachedCall } from "../../calls/calls/calls.sql.ts";
import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { runBatch } from "../../database/queries.ts";
import { upsertIfChanged } from "../../database/table_writes.ts";
import { endOfDate } from "../../http/dates.ts";
import { memberById, reachOf } from "../../organization/members/members.sql.ts";
import { organizationNotFound } from "../../organization/organizations/organizations.refusals.ts";
import { organizationById } from "../../organization/organizations/organizations.sql.ts";
import { insertReadEntry } from "../egress_audit_logs/egress_audit_logs.sql.ts";
import { presignDownload } from "./egresses.files.ts";
import { egressListEntry, lastEgressLookedThrough, visibleEgresses } from "./egresses.lists.ts";
import { isDeletedEarly, mergeEgress } from "./egresses.merge.ts";
import { egressNotFound } from "./egresses.refusals.ts";
import type { Egress, EgressesQuery, EgressReport } from "./egresses.schemas.ts";
import * as sql from "./egresses.sql.ts";

export async function listEgresses({ db, caller }: ClientContext, path: CallPath): Promise<Egress[]> {
  const reachedPath = reachedCall(caller, path);
  const [[call], recordings] = await runBatch(db, [callOfPath(reachedPath), sql.egressesOfPath(reachedPath)]);
  if (!call) throw callNotFound();
  return recordings;
}

export async function findEgresses(context: ClientContext, { after, from, to, per_page }: EgressesQuery) {
  const { db, caller } = context;
  const listed = {
    ...reachOf(caller),
    after,
    from: from === undefined ? Number.MIN_SAFE_INTEGER : Date.parse(from),
    before: to === undefined ? Number.MAX_SAFE_INTEGER : endOfDate(to),
  };
  const [found, [end], entries] = await runBatch(db, [
    visibleEgresses({ ...listed, limit: per_page + 1 }),
    lastEgressLookedThrough(listed),
    egressListEntry(context, "read", { ...listed, from_date: from ?? null, to_date: to ?? null }),
  ]);
  requireEntry(entries);
  const egresses = found.slice(0, per_page);
  const last = found.length > per_page ? egresses.at(-1) : end;
  return { egresses, next_after: last?.id ?? null };
}

/**
 * A recording with a download URL, and the audit entry of this read, written in the same transaction: without the entry
 * there is no URL (contract, section "Egresses", rule 3).
 */
export async function readEgress(context: ClientContext, path: CallPath, egress_id: number) {
  const { db, now, caller } = context;
  const reachedPath = { ...reachedCall(caller, path), egress_id };
  const [[egress], [entry], entries] = await runBatch(db, [
    sql.visibleEgressOfPath(reachedPath),
    insertReadEntry({ ...reachedPath, user_id: caller.organization_user_id, now }),
    sql.egressReadEntry(context, "read", reachedPath),
  ]);
  if (!egress) throw egressNotFound();
  if (!entry) throw new Error("The read of an egress left no audit entry");
  requireEntry(entries);
  const { status, storage_key } = egress;
  const hasFile = storage_key !== null && status !== EGRESS_DELETED;
  return { ...egress, url: hasFile ? await presignDownload(context, storage_key, entry.id) : null };
}

export async function reportEgress(context: Context, path: sql.EgressKey, report: EgressReport) {
  const { organization_id, egress_id } = path;
  // No call has an empty key, and no user the id 0.
  const { call_key = "", user_id, storage_key = null } = report;
  return decideAndWrite(
    context,
    {
      organization: organizationById({ id: organization_id }),
      egress: sql.egressByKey(path),
      call: callByKey({ organization_id, key: call_key }),
      member: memberById({ organization_id, id: user_id ?? 0 }),
      owner: sql.ownerOfFile({ organization_id, storage_key }),
    },
    ({ organization: [organization], egress: [egress], call: [call], member: [member], owner: [owner] }) => {
      if (!organization) throw organizationNotFound();
      const fileOwner = owner?.egress_id;
      const known = { organization, egress, call, isMember: member !== undefined, fileOwner };
      const next = mergeEgress(known, egress_id, report, context.now);
      const isNamedAgain = next === egress && storage_key !== null && storage_key === next.storage_key;
      if (!isNamedAgain || !isDeletedEarly(egress)) return upsertIfChanged(sql.egressWrites, egress, next);
      const naming = sql.nameFiles({
        organization_id,
        egress_id,
        storage_keys: JSON.stringify([storage_key]),
      });
      return { writes: [naming, sql.egressByKey(path)] };
    },
  );
}
