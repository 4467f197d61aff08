import { EGRESS_DELETED, EGRESS_STATUSES } from "../../database/enums.ts";
import { reviseRow } from "../../database/merging.ts";
import type { egresses } from "../../database/schema.ts";
import { timeOfReport } from "../../http/reports.ts";
import { EGRESS_SILENCE } from "../../tuning.ts";
import type { Call } from "../calls/calls.schemas.ts";
import {
  egressNamesNoCall,
  egressOfAnotherCall,
  egressOfUnknownCall,
  egressUserNotMember,
  egressWithoutStatus,
  fileNotOfOrganization,
  fileOfAnotherRecording,
} from "./egresses.refusals.ts";
import type { Egress, EgressReport } from "./egresses.schemas.ts";

/** What is known when an egress is reported. */
interface KnownEgress {
  organization: { id: number; slug: string };
  /** The egress with this id; undefined in the first report. */
  egress: Egress | undefined;
  /** The call of the report's call_key, if there is one. */
  call: Pick<Call, "id"> | undefined;
  /** Whether the report's user_id is a user of the organization. */
  isMember: boolean;
  /** The egress_id of the recording that names, or ever named, the report's storage_key. */
  fileOwner: string | undefined;
}

type EgressRow = typeof egresses.$inferInsert;

/** What is known of an egress, whichever call it is of. */
export type EgressState = Pick<Egress, "status" | "error" | "is_stopped" | "ended_at" | "storage_key">;

/** LiveKit says nothing of an end before it. */
type EarlyEnd = Partial<Pick<Egress, "early_ended_at">>;

/** The files of an organization begin with its slug, so that no other one can name them. */
export const isFileOf = ({ slug }: { slug: string }, storage_key: string) =>
  storage_key.startsWith(`${slug}/`);

const NEW_EGRESS = { error: null, is_stopped: false, storage_key: null };

/**
 * The egress after a report: a field that is left out stays as it is, null clears it. But the status never goes back,
 * what is stopped or ended stays so. Of a late report only what is still unknown counts, and of a report of a deleted
 * egress only the storage key: so that a file that nobody knew of is deleted too.
 *
 * @returns the known egress itself where nothing changes
 * @throws ApiError 422 if the report names no call, another call, a file that cannot be its own, or nobody of the
 *   organization; or where the first one has no status
 */
export function mergeEgress(
  { organization, egress: known, call, isMember, fileOwner }: KnownEgress,
  egress_id: string,
  report: EgressReport,
  now: number,
): EgressRow {
  const { call_key, user_id, ...news } = report;
  if (news.storage_key && !isFileOf(organization, news.storage_key)) throw fileNotOfOrganization();
  if (fileOwner !== undefined && fileOwner !== egress_id) throw fileOfAnotherRecording();
  if (known?.status === EGRESS_DELETED) {
    const isOfTheCall = call_key === undefined || call?.id === known.call_id;
    const { storage_key } = isOfTheCall ? news : known;
    return !storage_key || storage_key === known.storage_key ? known : { ...known, storage_key };
  }
  if (call_key !== undefined && !call) throw egressOfUnknownCall();
  const call_id = known?.call_id ?? call?.id;
  if (call_id === undefined) throw egressNamesNoCall();
  if (call && call.id !== call_id) throw egressOfAnotherCall();

  const state = mergeState(known, news, now);
  if (user_id && !isMember) throw egressUserNotMember();
  return reviseEgress(
    known,
    { organization_id: organization.id, call_id, egress_id, ...state },
    user_id ?? null,
    now,
  );
}

/** The egress in this state, to which the report of this user brought it. It is the known one itself where nothing changes. */
export const reviseEgress = (
  known: Egress | undefined,
  fields: EgressState &
    EarlyEnd &
    Partial<Pick<Egress, "began_at">> &
    Pick<Egress, "organization_id" | "call_id" | "egress_id">,
  changed_by_user_id: number | null,
  now: number,
): EgressRow => reviseRow(known, fields, now, { changed_by_user_id, check_at: nextCheck(fields, now) });

/** Nothing is left to ask about a recording that has ended. */
export const nextCheck = ({ status }: Pick<EgressState, "status">, now: number) =>
  status === "egress_ended" ? null : now + EGRESS_SILENCE;

/**
 * What is known of an egress after a report, whichever call it is of. An end that is reported before the recording has
 * ended waits until then.
 *
 * @throws ApiError 422 if the first report has no status
 */
export function mergeState(
  known: (EgressState & EarlyEnd) | undefined,
  news: News,
  now: number,
): EgressState & Required<EarlyEnd> {
  const changes = known ? timelyPart(known, news) : news;
  const { status, error, is_stopped, storage_key } = { ...NEW_EGRESS, ...known, ...changes };
  if (status === undefined) throw egressWithoutStatus();
  const isEnded = status === "egress_ended";
  const early = known?.early_ended_at ?? null;
  const end = changes.ended_at === undefined ? early : changes.ended_at;
  return {
    status,
    error,
    is_stopped: isEnded || known?.is_stopped || (is_stopped ?? false),
    ended_at: isEnded ? (end ?? known?.ended_at ?? early ?? Math.min(timeOfReport(news, now), now)) : null,
    early_ended_at: isEnded ? null : end,
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
