import { EGRESS_DELETED, EGRESS_STATUSES } from "../../database/enums.ts";
import { reviseRecord } from "../../database/merging.ts";
import { unprocessable } from "../../http/errors.ts";
import type { Call } from "../calls/calls.schemas.ts";
import type { Egress, EgressReport } from "./egresses.schemas.ts";

/** What reports say of an egress, when, and by whom. */
export type EgressRecord = Omit<Egress, "id" | "egress_id">;

/** What a report refers to. */
interface EgressReferences {
  /** The call of the report's call_key, if there is one. */
  call: Pick<Call, "id" | "organization_id"> | undefined;
  /** Whether the report's user_id is a user of the organization. */
  isMember: boolean;
}

/** What is known of an egress, whichever call it is of. */
export type EgressState = Pick<EgressRecord, "status" | "error" | "is_stopped" | "ended_at" | "storage_key">;

const NEW_EGRESS = { error: null, is_stopped: false, ended_at: null, storage_key: null };

/**
 * The egress after a report: a field that is left out stays as it is, null clears it. But the status never goes back,
 * what is stopped or ended stays so. Of a late report only what is still unknown counts, and of a report of a deleted
 * egress only the storage key: so that a file that nobody knew of is deleted too.
 *
 * @returns the known egress itself where nothing changes
 * @throws ApiError 422 if the report names no call, another call, or nobody of the organization; or where the
 *   first one has no status
 */
export function mergeEgress(
  known: EgressRecord | undefined,
  report: EgressReport,
  { call, isMember }: EgressReferences,
  now: number,
): EgressRecord {
  const { call_key, user_id, ...news } = report;
  if (known?.status === EGRESS_DELETED) {
    const isOfTheCall = call_key === undefined || call?.id === known.call_id;
    const { storage_key } = isOfTheCall ? news : known;
    return !storage_key || storage_key === known.storage_key ? known : { ...known, storage_key };
  }
  if (call_key !== undefined && !call) throw unprocessable("egress.call_key: there is no such call");
  const owner = known ?? (call && { organization_id: call.organization_id, call_id: call.id });
  if (!owner) throw unprocessable("egress.call_key: the first report must name a call");
  const { organization_id, call_id } = owner;
  if (call && call.id !== call_id) throw unprocessable("egress.call_key: the egress belongs to another call");

  const state = mergeState(known, news, now);
  if (user_id && !isMember) throw unprocessable("egress.user_id: is not a user of the organization");
  const changed_by_user_id = user_id ?? known?.changed_by_user_id ?? null;
  return reviseRecord(known, { organization_id, call_id, ...state }, now, { changed_by_user_id });
}

/**
 * What is known of an egress after a report, whichever call it is of.
 *
 * @throws ApiError 422 if the first report has no status
 */
export function mergeState(known: EgressState | undefined, news: News, now: number): EgressState {
  const changes = known ? timelyPart(known, news) : news;
  const { status, error, is_stopped, ended_at, storage_key } = { ...NEW_EGRESS, ...known, ...changes };
  if (status === undefined) throw unprocessable("egress.status: is required in the first report");
  const isEnded = status === "egress_ended";
  return {
    status,
    error,
    is_stopped: isEnded || known?.is_stopped || (is_stopped ?? false),
    ended_at: isEnded ? (ended_at ?? known?.ended_at ?? now) : ended_at,
    storage_key,
  };
}

export type News = Omit<EgressReport, "call_key" | "user_id">;

/** A report that comes after one of a later status is late. Only what is still unknown is taken from it. */
function timelyPart(known: EgressState, news: News): News {
  const isLate = news.status !== undefined && progress(news.status) < progress(known.status);
  if (!isLate) return news;
  return {
    error: known.error ?? news.error ?? null,
    storage_key: known.storage_key ?? news.storage_key ?? null,
  };
}

const progress = (status: string) => (EGRESS_STATUSES as readonly string[]).indexOf(status);
