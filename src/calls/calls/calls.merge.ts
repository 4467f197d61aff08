import type * as z from "zod";
import type { NewRow } from "../../database/insert.ts";
import { isSameRow } from "../../database/merging.ts";
import type { Person } from "../../rooms/people/people.sql.ts";
import { isLate, type ReportOrigin, reviseReported, stillUnknown, timeOfReport } from "../../rooms/report.ts";
import {
  type NamedVisit,
  type PlannedParticipant,
  plannedOf,
  visitsStartedBy,
} from "../../rooms/visits/visits.reports.ts";
import { mergeConsent } from "../consents/consents.merge.ts";
import type { KnownConsent } from "../consents/consents.schemas.ts";
import type { NewConsent } from "../consents/consents.sql.ts";
import type { earlyRefusals } from "../consents/consents.table.ts";
import { mergeParticipantsOnCall } from "../participants/participants.merge.ts";
import type { Participant, ParticipantRow, ReportOnCall } from "../participants/participants.schemas.ts";
import { leaveAtEnd } from "../participants/participants.stays.ts";
import * as refusals from "./calls.refusals.ts";
import type { ReportedCall, reportCallBody, updateCallBody } from "./calls.schemas.ts";
import type { KnownReference } from "./calls.sql.ts";
import type { calls } from "./calls.table.ts";

export type CallReport = Omit<z.output<ReturnType<typeof reportCallBody>>["call"], "participants"> &
  ReportOrigin & { participants?: ReportOnCall[] };

type EarlyRefusal = Omit<typeof earlyRefusals.$inferSelect, "unclaimed_since">;

export interface KnownCall {
  organization_id: number;
  call: ReportedCall | undefined;
  room: { id: number } | undefined;
  participants: Participant[];
  /** The records of these participants, and of those whom visits plan under the reported keys. */
  people: Person[];
  /** The earlier decisions of the participants whose consent the report contains, in the order in which they were reported. */
  consents: KnownConsent[];
  /** The participants on the call whose leaving was not reported; only read if the report ends the call. */
  present: Participant[];
  /** The users of the organization that the report names, as the holder or as participants. */
  members: Set<number>;
  planned: NamedVisit[];
  /** The refusals of the participant with this key that were reported before the call was known. */
  refusalsOf: (key: string) => EarlyRefusal[];
}

export type CallRow = NewRow<typeof calls> & { id?: number };

/**
 * Applies a report to a call and its participants:
 *
 * - Omitted fields keep the values of earlier reports, and omitted participants stay.
 * - The first report fixes the room, and with it the organization.
 * - An ended call stays ended. When a call ends, everybody who is still there leaves.
 * - An assumed end, and the leaving assumed with it, count as unknown: no report is refused because of them, and a reported end
 *   replaces them.
 * - A report can begin a legal hold, but cannot end one.
 * - No report restores an erased reference.
 * - A report made before the newest one only fills in unknown fields.
 *
 * @throws ApiError 422 if the report contradicts itself or the known data
 */
export function mergeCall(known: KnownCall, key: string, report: CallReport, now: number) {
  const comers = comersOf(known, report);
  const fields = fieldsOfCall({ ...known, comers }, key, whatCounts(known.call, report), now);
  const call: CallRow = reviseReported(known.call, fields, report, now);
  const { ended_at, end_is_assumed } = call;
  const { participants: named, people } = mergeParticipantsOnCall(
    {
      call: { ...call, id: call.id ?? null },
      participants: new Map(known.participants.map((each) => [each.key, withoutAssumedLeaving(each)])),
      people: known.people,
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
      : [...named, ...others].map((each) =>
          leaveAtEnd(each, ended_at, now, end_is_assumed || report.reporter === "observer"),
        );
  const before = new Map([...known.participants, ...known.present].map((each) => [each.id, each]));
  const knownAs = ({ id }: ParticipantRow) => (id === undefined ? undefined : before.get(id));
  // All participants of a new call join it, although its id is not known yet. Erased participants do not change.
  const changedPeople = new Set(people.map(({ id }) => id));
  const isNews = (each: ParticipantRow) => {
    const row = knownAs(each);
    const isSame = row && isSameRow<ParticipantRow>(row, each) && !changedPeople.has(each.person_id);
    return each.erased_at === null && (!known.call || !isSame);
  };
  return {
    call,
    participants: participants.filter(isNews),
    people,
    // Erased participants only join the call, because a missing consent of theirs still counts.
    erased: named
      .filter(({ erased_at, call_id }) => erased_at !== null && call_id === null)
      .flatMap(({ id }) => id ?? []),
    ...mergeConsents(known, call, named, report, now),
    beginsHold: report.legal_hold === true && mayBeginHold(known.call, report),
    startedVisits: visitsStartedBy(comers),
  };
}

/** The reported participants who used a visit's link, except those known under such a key before the visit was planned. */
function comersOf({ participants, people, planned }: KnownCall, report: CallReport): PlannedParticipant[] {
  const visits = new Map(participants.map(({ key, visit_id }) => [key, visit_id]));
  return (report.participants ?? []).flatMap(({ key }) => {
    const comer = plannedOf(planned, people, key);
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
) {
  const reports = new Map(participants.map((each) => [each.key, each]));
  /** The digests of early refusals that have become consents of participants. */
  const taken: string[] = [];
  const consents = named.flatMap(({ id, key, joined_at }): NewConsent[] => {
    const waiting = known.refusalsOf(key);
    taken.push(...waiting.map(({ key_digest }) => key_digest));
    // Two connections may have reported the same refusal.
    const refused = [
      ...new Map(waiting.map((each) => [each.said_at ?? each.decided_at, refusedEarly(each, now)])).values(),
    ];
    const before = known.consents.filter(({ participant_id }) => participant_id === id);
    const decided = mergeConsent(
      { ledger: [...before, ...refused], present_since: joined_at ?? started_at },
      reports.get(key) ?? {},
      { reporter: report.reporter ?? "platform", reported_at: timeOfReport(report, now) },
      now,
    );
    const who = { organization_id, participant_id: id ?? null, participant_key: key };
    return [...refused, ...(decided ? [decided] : [])].map((each) => ({ ...each, ...who }));
  });
  return { consents, taken };
}

const refusedEarly = ({ decided_at, said_at, method, reported_at }: EarlyRefusal, now: number) => ({
  ...{ participant_id: 0, reporter: "observer" as const, decision: "refused" as const, created_at: now },
  ...{ decided_at, said_at, method, reported_at },
});

const withoutAssumedLeaving = (each: Participant): Participant =>
  each.left_is_assumed ? { ...each, left_at: null, left_is_assumed: false } : each;

/**
 * A report from before the end of a hold must not begin the hold again. So once a hold has ended, only a report dated after that
 * end begins one. It must also be the newest report, because its clock may be ahead.
 */
function mayBeginHold(call: ReportedCall | undefined, { reported_at = 0 }: ReportOrigin): boolean {
  if (!call) return true;
  if (call.hold_begun_by === "platform") return false;
  return call.hold_ended_at === null || reported_at > Math.max(call.hold_ended_at, call.reported_at);
}

/** The part of a report that counts: only unknown fields of a late report, and no reference if the organization has set its own. */
function whatCounts(call: ReportedCall | undefined, report: CallReport): CallReport {
  // An observer's reports contain only what nobody else has reported.
  if (!call || report.reporter === "observer") return report;
  const { external_reference: _, ...others } = report;
  const said = call.reference_said_by === "organization" ? others : report;
  if (!isLate(report, call)) return said;
  const { end_is_assumed, ended_at, reference_said_by } = call;
  const known = {
    ...call,
    ended_at: end_is_assumed ? null : ended_at,
    external_reference: reference_said_by,
  };
  return stillUnknown(known, said);
}

function fieldsOfCall(
  { organization_id, call, room, members, comers }: KnownCall & { comers: PlannedParticipant[] },
  key: string,
  report: CallReport,
  now: number,
) {
  // The first participant with a link determines the call's visit, and the values taken from it.
  const first = call?.visit_id ? undefined : comers[0];
  const waiting_room_id = call?.waiting_room_id ?? room?.id;
  if (waiting_room_id === undefined)
    throw report.waiting_room_slug === undefined
      ? refusals.callNamesNoRoom()
      : refusals.callNamesUnknownRoom();
  const { organization_user_id, started_at, failed } = { ...call, ...report };
  if (organization_user_id === undefined || started_at === undefined) throw refusals.callIncomplete();
  if (report.organization_user_id !== undefined && !members.has(report.organization_user_id))
    throw refusals.callOwnerNotMember();
  const end_is_assumed = typeof report.ended_at !== "number" && (call?.end_is_assumed ?? false);
  const known_end = call?.ended_at ?? null;
  // An assumed end is no reason to refuse a report.
  const ended_at = report.ended_at ?? (end_is_assumed ? Math.max(known_end ?? 0, started_at) : known_end);
  if (ended_at !== null && ended_at < started_at)
    throw refusals.callEndsTooEarly(typeof report.ended_at === "number" ? "ended_at" : "started_at");
  return {
    ...{ transcript_deleted_at: null, soap_note_deleted_at: null },
    ...{ recordings_deleted_at: null, reference_erased_at: null },
    ...call,
    organization_id,
    key,
    organization_user_id,
    waiting_room_id,
    visit_id: call?.visit_id ?? first?.visit_id ?? null,
    visit_holder_id: first ? first.visit_holder_id : (call?.visit_holder_id ?? null),
    started_at,
    ended_at,
    end_is_assumed,
    results_awaited_since:
      ended_at !== null && known_end === null ? now : (call?.results_awaited_since ?? null),
    // `failed: null` reports that the call did not fail.
    failed: report.failed === null ? false : (failed ?? null),
    ...referenceOfCall(call, report, first),
  };
}

/** @throws ApiError 422 if the reference was erased */
export function mergeReference(
  { external_reference, reference_erased_at }: KnownReference,
  update: z.output<ReturnType<typeof updateCallBody>>["call"],
): string | null {
  const next = update.external_reference === undefined ? external_reference : update.external_reference;
  if (next !== null && reference_erased_at !== null) throw refusals.callReferenceErased();
  return next;
}

/**
 * The visit's reference counts until the platform or the organization sets or clears the reference; an observer's reference ranks below
 * it. An erased reference stays erased, because it may identify a person whose name was erased.
 */
function referenceOfCall(
  call: ReportedCall | undefined,
  report: CallReport,
  planned: PlannedParticipant | undefined,
) {
  const said_by = call?.reference_said_by ?? null;
  if (call && call.reference_erased_at !== null)
    return { external_reference: null, reference_said_by: said_by };
  const isSaid = report.external_reference !== undefined && report.reporter !== "observer";
  const reference_said_by = isSaid ? "report" : said_by;
  const { external_reference: said = null } = { ...call, ...report };
  const external_reference = reference_said_by === null ? (planned?.visit_reference ?? said) : said;
  return { external_reference, reference_said_by };
}
