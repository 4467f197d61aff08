import type * as z from "zod";
import { isSameRow } from "../../database/merging.ts";
import { isLate, type ReportOrigin, reviseReported, stillUnknown, timeOfReport } from "../../http/reports.ts";
import { mergeConsent } from "../consents/consents.merge.ts";
import type { KnownConsent } from "../consents/consents.schemas.ts";
import type { NewConsent } from "../consents/consents.sql.ts";
import { mergeParticipantsOnCall } from "../participants/participants.merge.ts";
import type { Participant, ParticipantRow, ReportOnCall } from "../participants/participants.schemas.ts";
import { leaveAtEnd, withEventTimes } from "../participants/participants.stays.ts";
import {
  type NamedVisit,
  type PlannedParticipant,
  plannedOf,
  visitsStartedBy,
} from "../visits/visits.reports.ts";
import {
  callEndsTooEarly,
  callIncomplete,
  callNamesNoRoom,
  callNamesUnknownRoom,
  callOwnerNotMember,
  callReferenceErased,
} from "./calls.refusals.ts";
import type { Call, ReportedCall, reportCallBody, updateCallBody } from "./calls.schemas.ts";
import type { KnownReference } from "./calls.sql.ts";

export type CallReport = Omit<z.output<ReturnType<typeof reportCallBody>>["call"], "participants"> &
  ReportOrigin & {
    participants?: ReportOnCall[];
    /** Only LiveKit's API notes what LiveKit said. */
    livekit_said?: string | null;
  };

/** What is known when a call is reported. */
export interface KnownCall {
  /** Of the report. */
  organization_id: number;
  /** The call with this key; undefined in the first report. */
  call: ReportedCall | undefined;
  /** The organization's room that the report names; undefined where it names none. */
  room: { id: number } | undefined;
  /** The organization's participants whom the report names. */
  participants: Participant[];
  /** The decisions on consent of those of whom the report says one, in the order in which they were reported. */
  consents: KnownConsent[];
  /** Who is on the call and has not left, or only as assumed; needed where the report ends the call. */
  present: Participant[];
  /** Those whom the report names, as holders of the call or as participants, who are users of the organization. */
  members: Set<number>;
  /** The visits that its keys name. */
  planned: NamedVisit[];
}

/** What a report makes of a call. A new one has no id yet, and nothing that was deleted. */
export type CallRow = Omit<
  Call,
  "id" | "transcript_deleted_at" | "soap_note_deleted_at" | "reference_erased_at"
> & { id?: number };

/**
 * What a report makes of a call and its participants. A field left out stays as reported before; one who is left out
 * stays too. The first report fixes the room, and with it the organization. An ended call stays ended. When it ends,
 * everybody who is still there has left. What was only assumed, an end and that people left then, counts as not known: no
 * report is refused because of it, and a reported end replaces it. A hold only begins by a report: nothing that a report
 * says ends it. And no report brings back a reference that was erased. Of a report that was made before the newest one only
 * what is not known counts.
 *
 * @returns the call, which is the known one itself where nothing of it changes; those who are new on it, or of whom
 *   something changes; the ids of those who only join it, because they are erased: who did not consent still counts; what
 *   they decided; whether a legal hold begins, or that of the
 *   organization becomes the platform's; and the ids of visits that start
 * @throws ApiError 422 if the report contradicts itself or what is known
 */
export function mergeCall(
  known: KnownCall,
  key: string,
  report: CallReport,
  now: number,
): {
  call: CallRow;
  participants: ParticipantRow[];
  erased: number[];
  consents: NewConsent[];
  beginsHold: boolean;
  startedVisits: number[];
} {
  const comers = comersOf(known, report);
  const fields = fieldsOfCall({ ...known, comers }, key, whatCounts(known.call, report));
  const call: CallRow = reviseReported(known.call, fields, report, now);
  const { ended_at, end_is_assumed } = call;
  const named = mergeParticipantsOnCall(
    {
      call: { ...call, id: call.id ?? null },
      participants: new Map(known.participants.map((each) => [each.key, withoutAssumedLeaving(each)])),
      planned: known.planned,
      members: known.members,
    },
    report.participants ?? [],
    report,
    now,
  );
  const namedKeys = new Set(named.map((each) => each.key));
  const others = known.present.filter((each) => !namedKeys.has(each.key)).map(withoutAssumedLeaving);
  const participants =
    ended_at === null
      ? named
      : [...named, ...others].map((each) => leaveAtEnd(each, ended_at, now, end_is_assumed));
  const before = new Map([...known.participants, ...known.present].map((each) => [each.id, each]));
  const knownAs = ({ id }: ParticipantRow) => (id === undefined ? undefined : before.get(id));
  // Everybody whom a new call names joins it, though its id is not known yet. Of somebody erased nothing changes.
  const isNews = (each: ParticipantRow) => {
    const row = knownAs(each);
    return each.erased_at === null && (!known.call || !row || !isSameRow<ParticipantRow>(row, each));
  };
  return {
    call,
    participants: participants.filter(isNews).map((each) => withEventTimes(knownAs(each), each)),
    erased: named.flatMap(({ id, erased_at, call_id }) =>
      id !== undefined && erased_at !== null && call_id === null ? [id] : [],
    ),
    consents: mergeConsents(known, call, named, report, now),
    beginsHold: report.legal_hold === true && mayBeginHold(known.call, report),
    startedVisits: visitsStartedBy(comers),
  };
}

/** Those of a report who come by the link of a visit: not who was known under such a key before the visit was planned. */
function comersOf({ participants, planned }: KnownCall, report: CallReport): PlannedParticipant[] {
  const visits = new Map(participants.map(({ key, visit_id }) => [key, visit_id]));
  return (report.participants ?? []).flatMap(({ key }) => {
    const comer = plannedOf(planned, key);
    return comer && (visits.get(key) ?? comer.visit_id) === comer.visit_id && visits.get(key) !== null
      ? [comer]
      : [];
  });
}

function mergeConsents(
  known: KnownCall,
  { organization_id, started_at }: CallRow,
  named: ParticipantRow[],
  { participants = [], ...report }: CallReport,
  now: number,
): NewConsent[] {
  return named.flatMap(({ id, key, joined_at }, n) => {
    const ledger = known.consents.filter(({ participant_id }) => participant_id === id);
    const decided = mergeConsent(
      { ledger, present_since: joined_at ?? started_at },
      participants[n] ?? {},
      { reporter: report.reporter ?? "platform", reported_at: timeOfReport(report, now) },
      now,
    );
    return decided ? [{ organization_id, participant_id: id ?? null, participant_key: key, ...decided }] : [];
  });
}

/** Somebody who has left only as assumed has not left, as far as a report said so. */
const withoutAssumedLeaving = (each: Participant): Participant =>
  each.left_is_assumed ? { ...each, left_at: null, left_is_assumed: false } : each;

/** A call that goes on as far as is known, of which nothing was heard for long, and the latest times known of it. */
export interface SilentCall {
  started_at: number;
  /** The latest of the times of its participants. */
  participants_until: number | null;
  /** In milliseconds from its start. */
  spoken_until: number | null;
  recorded_until: number | null;
}

/** When a call ended whose end nobody reported: at the latest time known of it. */
export function assumedEnd(call: SilentCall, now: number): number {
  const { started_at, participants_until, spoken_until, recorded_until } = call;
  const latest = Math.max(
    participants_until ?? started_at,
    started_at + (spoken_until ?? 0),
    recorded_until ?? started_at,
  );
  // A time to come was reported by mistake.
  return Math.max(started_at, Math.min(latest, now));
}

/**
 * A report from before the end of a hold does not begin it again. Where a report does not say when it was made, that may be so; and
 * where its clock is ahead, unless it is the newest.
 */
function mayBeginHold(call: ReportedCall | undefined, { reported_at = 0 }: ReportOrigin): boolean {
  if (!call) return true;
  const { hold_begun_by, hold_ended_at } = call;
  return (
    hold_begun_by !== "platform" &&
    (hold_ended_at === null || reported_at > Math.max(hold_ended_at, call.reported_at))
  );
}

/** What a report says of a call that counts: of a late one what is not known, and nothing where the organization itself has spoken. */
function whatCounts(call: ReportedCall | undefined, report: CallReport): CallReport {
  if (!call) return report;
  const { external_reference: _, ...others } = report;
  const said = call.reference_said_by === "organization" ? others : report;
  if (!isLate(report, call)) return said;
  const { end_is_assumed, ended_at, reference_said_by } = call;
  const known = {
    ...call,
    ended_at: end_is_assumed ? null : ended_at,
    external_reference: reference_said_by,
  };
  return stillUnknown({ ...known, livekit_said: null }, said);
}

function fieldsOfCall(
  { organization_id, call, room, members, comers }: KnownCall & { comers: PlannedParticipant[] },
  key: string,
  report: CallReport,
) {
  // The visit of a call, and what is taken from it, are those of who came first.
  const first = call?.visit_id ? undefined : comers[0];
  const waiting_room_id = call?.waiting_room_id ?? room?.id;
  if (waiting_room_id === undefined)
    throw report.waiting_room_slug === undefined ? callNamesNoRoom() : callNamesUnknownRoom();
  const { organization_user_id, started_at, failed } = { ...call, ...report };
  if (organization_user_id === undefined || started_at === undefined) throw callIncomplete();
  if (report.organization_user_id !== undefined && !members.has(report.organization_user_id))
    throw callOwnerNotMember();
  const end_is_assumed = typeof report.ended_at !== "number" && (call?.end_is_assumed ?? false);
  const known_end = call?.ended_at ?? null;
  // What nobody reported is no reason to refuse a report.
  const ended_at = report.ended_at ?? (end_is_assumed ? Math.max(known_end ?? 0, started_at) : known_end);
  if (ended_at !== null && ended_at < started_at) throw callEndsTooEarly();
  return {
    organization_id,
    key,
    organization_user_id,
    waiting_room_id,
    visit_id: call?.visit_id ?? first?.visit_id ?? null,
    started_at,
    ended_at,
    end_is_assumed,
    // Null says that it did not, which is known then.
    failed: report.failed === null ? false : (failed ?? null),
    ...referenceOfCall(call, report, first),
  };
}

/**
 * The reference that the organization gives a call; the known one where it gives none.
 *
 * @throws ApiError 422 if it was erased
 */
export function mergeReference(
  { external_reference, reference_erased_at }: KnownReference,
  update: z.output<ReturnType<typeof updateCallBody>>["call"],
): string | null {
  const next = update.external_reference === undefined ? external_reference : update.external_reference;
  if (next !== null && reference_erased_at !== null) throw callReferenceErased();
  return next;
}

/**
 * That of its visit, while nobody else has said whether there is one. One that was erased stays so: it may name somebody whose name
 * was erased.
 */
function referenceOfCall(
  call: ReportedCall | undefined,
  report: CallReport,
  planned: PlannedParticipant | undefined,
) {
  const said_by = call?.reference_said_by ?? null;
  if (call && call.reference_erased_at !== null)
    return { external_reference: null, reference_said_by: said_by, livekit_said: null };
  const reference_said_by = report.external_reference === undefined ? said_by : "report";
  const { external_reference: said = null, livekit_said = null } = { ...call, ...report };
  const external_reference = reference_said_by === null ? (said ?? planned?.visit_reference ?? null) : said;
  return { external_reference, reference_said_by, livekit_said };
}
