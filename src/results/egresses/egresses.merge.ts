import type { Call } from "../../calls/calls/calls.schemas.ts";
import { EGRESS_DELETED, EGRESS_STATUSES } from "../../database/enums.ts";
import type { NewRow } from "../../database/insert.ts";
import { reviseRow, type Timestamps } from "../../database/merging.ts";
import { timeOfReport } from "../../rooms/report.ts";
import { EGRESS_SILENCE } from "../../tuning.ts";
import * as refusals from "./egresses.refusals.ts";
import type { Egress, EgressReport } from "./egresses.schemas.ts";
import type { egresses } from "./egresses.table.ts";

interface KnownEgress {
  organization: { id: number; slug: string };
  egress: Egress | undefined;
  call: Pick<Call, "id"> | undefined;
  isMember: boolean;
  /** The egress_id of the recording that names, or once named, the report's storage_key. */
  fileOwner: string | undefined;
}

type EgressRow = Egress | NewRow<typeof egresses>;

/** The part of an egress that does not depend on its call. */
type EgressState = Omit<
  EgressRow,
  "organization_id" | "call_id" | "egress_id" | "call_key" | keyof Timestamps
>;

/** File names must begin with the organization's slug, so that no organization can name the files of another one. */
export const isFileOf = ({ slug }: { slug: string }, storage_key: string) =>
  storage_key.startsWith(`${slug}/`);

const UNKNOWN = { error: null, storage_key: null, started_at: null, duration: null, size: null };

export const NEW_EGRESS = {
  ...UNKNOWN,
  is_stopped: false,
  changed_by_user_id: null,
  deletion_due_at: null,
  deletion_requested_by: null,
  is_announced: false,
  call_ended_at: null,
  is_held: false,
  check_at: null,
  stop_due_at: null,
};

/**
 * The egress after a report: an omitted field stays, null clears it. But the status never goes back, and a stopped or
 * ended recording stays so. A late report only fills in unknown fields. For a deleted egress, only the storage key
 * counts, so that a file that was not known yet is deleted too.
 *
 * @throws ApiError 422 if the report names no call, another call, a file that cannot belong to it, or a user who is not
 *   in the organization; or if the first report has no status
 */
export function mergeEgress(
  { organization, egress: known, call, isMember, fileOwner }: KnownEgress,
  egress_id: string,
  report: EgressReport,
  now: number,
): EgressRow {
  const { call_key, user_id, ...news } = report;
  if (news.storage_key && !isFileOf(organization, news.storage_key)) throw refusals.fileNotOfOrganization();
  if (fileOwner !== undefined && fileOwner !== egress_id) throw refusals.fileOfAnotherRecording();
  if (known?.status === EGRESS_DELETED) {
    const isOfTheCall = call_key === undefined || call?.id === known.call_id;
    const { storage_key } = isOfTheCall ? news : known;
    return !storage_key || storage_key === known.storage_key ? known : { ...known, storage_key };
  }
  if (call_key !== undefined && !call) throw refusals.egressOfUnknownCall();
  const call_id = known?.call_id ?? call?.id;
  if (call_id === undefined) throw refusals.egressNamesNoCall();
  if (call && call.id !== call_id) throw refusals.egressOfAnotherCall();

  const state = mergeState(known, news, now);
  if (user_id && !isMember) throw refusals.egressUserNotMember();
  const fields = {
    ...state,
    organization_id: organization.id,
    call_id,
    egress_id,
    call_key: known?.call_key ?? null,
  };
  return reviseEgress(known, fields, user_id ?? null, now);
}

/** Whether a recording was deleted before its end was reported, so that its file may have been uploaded since then. */
export const isDeletedEarly = (egress: Pick<EgressRow, "status" | "ended_at"> | undefined): boolean =>
  egress?.status === EGRESS_DELETED && egress.ended_at === null;

interface SeenEgress {
  organization_id: number;
  egress: Egress | undefined;
  /** null until the call is reported. */
  call_id: number | null;
}

/**
 * The egress after a recording backend reported its state. It keeps its call, or waits for the call with this key. A deleted egress does
 * not change; its files are still recorded.
 */
export function mergeSeenEgress(
  { organization_id, egress: known, call_id }: SeenEgress,
  { egress_id, call_key }: { egress_id: string; call_key: string },
  news: News,
  now: number,
): EgressRow {
  if (known?.status === EGRESS_DELETED) return known;
  const fields = {
    ...mergeState(known, news, now),
    organization_id,
    call_id: known?.call_id ?? call_id,
    egress_id,
    call_key: known?.call_key ?? (call_key || null),
  };
  return reviseEgress(known, fields, null, now);
}

const reviseEgress = (
  known: Egress | undefined,
  fields: Omit<EgressRow, keyof Timestamps>,
  changed_by_user_id: number | null,
  now: number,
): EgressRow => {
  // An ended recording needs no more checks.
  const check_at = fields.status === "egress_ended" ? null : now + EGRESS_SILENCE;
  return reviseRow(known, fields, now, { changed_by_user_id, check_at });
};

/**
 * The state after a report. An end time that is reported before the recording has ended is kept until then.
 *
 * @throws ApiError 422 if the first report has no status
 */
function mergeState(known: Egress | undefined, news: News, now: number): EgressState {
  const { reported_at: _, ...changes } = known ? timelyPart(known, news) : news;
  const { status, ...state } = { ...NEW_EGRESS, ...known, ...changes };
  if (status === undefined) throw refusals.egressWithoutStatus();
  const isEnded = status === "egress_ended";
  const early = known?.early_ended_at ?? null;
  const end = changes.ended_at === undefined ? early : changes.ended_at;
  return {
    ...state,
    status,
    is_stopped: isEnded || known?.is_stopped || (state.is_stopped ?? false),
    ended_at: isEnded ? (end ?? known?.ended_at ?? early ?? Math.min(timeOfReport(news, now), now)) : null,
    early_ended_at: isEnded ? null : end,
  };
}

type News = Omit<EgressReport, "call_key" | "user_id">;

/** A report is late if its status precedes the known one. Only fields that are still unknown are taken from it. */
function timelyPart(known: Egress, news: News): News {
  const isLate = news.status !== undefined && progress(news.status) < progress(known.status);
  if (!isLate) return news;
  const names = Object.keys(UNKNOWN) as (keyof typeof UNKNOWN)[];
  return Object.fromEntries(names.map((name) => [name, known[name] ?? news[name] ?? null]));
}

const progress = (status: string) => (EGRESS_STATUSES as readonly string[]).indexOf(status);
