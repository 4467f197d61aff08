import { reviseRecord } from "../../database/merging.ts";
import { unprocessable } from "../../http/errors.ts";
import type { Call } from "../calls/calls.schemas.ts";
import type { Egress, EgressReport } from "./egresses.schemas.ts";

/** What reports say of an egress, when, and by whom. */
export type EgressRecord = Omit<Egress, "id" | "egress_id">;

/** What a report refers to. */
export interface EgressReferences {
  /** The call of the report's call_key, if there is one. */
  call: Pick<Call, "id" | "organization_id"> | undefined;
  /** Whether the report's user_id is a user of the organization. */
  isMember: boolean;
}

const NEW_EGRESS = { error: null, is_stopped: false, ended_at: null, storage_key: null };

/**
 * The egress after a report: a field that is left out stays as it is, null clears it. But what is stopped or ended
 * stays so, whatever a late report says.
 *
 * @returns the known egress itself where nothing changes
 * @throws ApiError 422 where the report names no call, another call, or nobody of the organization; or where the
 *   first one has no status
 */
export function mergeEgress(
  known: EgressRecord | undefined,
  report: EgressReport,
  { call, isMember }: EgressReferences,
  now: number,
): EgressRecord {
  const wasEnded = known?.status === "egress_ended";
  // A report of the start that comes after the end says nothing that is still so.
  const isLate = wasEnded && report.status === "egress_starting";
  const { call_key, user_id = null, ...news }: EgressReport = isLate ? { call_key: report.call_key } : report;

  const owner = known ?? (call && { organization_id: call.organization_id, call_id: call.id });
  if (!owner || (call_key !== undefined && !call))
    throw unprocessable("egress.call_key: the first report must name a call");
  const { organization_id, call_id } = owner;
  if (call && call.id !== call_id) throw unprocessable("egress.call_key: the egress belongs to another call");

  const { status, error, is_stopped, ended_at, storage_key } = { ...NEW_EGRESS, ...known, ...news };
  if (status === undefined) throw unprocessable("egress.status: is required in the first report");
  if (user_id !== null && !isMember) throw unprocessable("egress.user_id: is not a user of the organization");

  const state = {
    organization_id,
    call_id,
    status,
    error,
    is_stopped: known?.is_stopped || (is_stopped ?? false),
    ended_at: wasEnded ? (ended_at ?? known.ended_at) : ended_at,
    storage_key,
  };
  return reviseRecord(known, state, now, { changed_by_user_id: user_id });
}
