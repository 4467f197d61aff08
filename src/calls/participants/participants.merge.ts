import { withoutUndefined } from "../../http/wire.ts";
import { clearedBy, mergePerson, unknownFields } from "../../rooms/people/people.merge.ts";
import type { Person, PersonRow } from "../../rooms/people/people.sql.ts";
import { isLate, type ReportOrigin, reviseReported } from "../../rooms/report.ts";
import { type NamedVisit, type PlannedParticipant, plannedOf } from "../../rooms/visits/visits.reports.ts";
import * as refusals from "./participants.refusals.ts";
import type { Participant, ParticipantReport, ParticipantRow, ReportOnCall } from "./participants.schemas.ts";
import { isAfter, type Meaning, meaningOf, type Times } from "./participants.stays.ts";

export const NOBODY = {
  left_is_assumed: false,
  call_id: null,
  call_started_at: null,
  visit_id: null,
  recording_consent: null,
  reference_digest: null,
  waiting_since: null,
  joined_at: null,
  cleared: null,
  erased_at: null,
};

/**
 * The next row for each kind of report, except the times of arrival. A `left_at` of null does not bring back a participant who
 * has left, because reports can be late.
 */
function nextRow(
  { kind, known, earlier_stay_until }: Meaning,
  { left_at = null }: Times,
  planned: PlannedParticipant | undefined,
) {
  const visit_id = planned?.visit_id ?? null;
  if (kind === "first") return { ...NOBODY, visit_id, left_at, earlier_stay_until };
  // A waiting participant leaves the visit when it is cancelled or no longer names them.
  const before = known.call_id === null && visit_id === null ? { ...known, visit_id } : known;
  if (kind === "return") return { ...before, left_at, left_is_assumed: false, earlier_stay_until };
  const isLeaving = kind === "correction" && left_at !== null;
  return isLeaving ? { ...before, left_at, left_is_assumed: false } : before;
}

/** The part of a late report that fills a gap, and the times of a stay not reported yet. */
function whatIsNews<Report extends Times & ReportOrigin>(
  { kind, known }: Meaning,
  report: Report,
  origin: ReportOrigin = report,
): Partial<Report> {
  if (!known || !isLate(origin, known)) return report;
  const { waiting_since, joined_at, left_at } = report;
  return {
    ...unknownFields(known, report),
    ...(kind === "return" && withoutUndefined({ waiting_since, joined_at, left_at })),
  };
}

function arrivalOf(known: Participant | undefined, report: Times) {
  const { waiting_since = null, joined_at = null } = { ...known, ...report };
  return { waiting_since, joined_at, cleared: clearedBy(["waiting_since", "joined_at"], known, report) };
}

/** The record of a participant: their own, or the one that a visit planned for them. */
export const recordOf = (
  people: Person[],
  known: Participant | undefined,
  planned: PlannedParticipant | undefined,
): Person | undefined => (known ? people.find(({ id }) => id === known.person_id) : planned?.person);

interface KnownInRoom {
  /** The room that has the slug in the path, or had it until it was renamed or retired. */
  room: { id: number; organization_id: number; is_active: boolean; slug_is_current: boolean };
  participant: Participant | undefined;
  /** The participant's record, or the one that a visit planned for a new participant. */
  person: Person | undefined;
  planned?: PlannedParticipant | undefined;
  isMember: boolean;
}

/**
 * Applies a report to a participant in a waiting room. A participant on a call stays in the call's room.
 *
 * @throws ApiError 422 if the report contradicts itself, or the participant would enter an inactive room; 404 if the participant
 *   would enter by an old slug
 */
export function mergeParticipant(
  { room, participant, person: record, planned, isMember }: KnownInRoom,
  key: string,
  report: ParticipantReport,
  now: number,
): { participant: ParticipantRow; person: PersonRow } {
  const meaning = meaningOf(participant, { ...report, room_id: room.id }, report);
  const { kind, known } = meaning;
  if (kind === "erased" && isAfter(report.waiting_since, known.left_at)) throw refusals.participantLeftCall();
  if ((kind === "erased" || kind === "late") && record) return { participant: known, person: record };
  if (kind === "first" && !room.slug_is_current) throw refusals.slugIsOld();

  const { organization_id } = room;
  const said = whatIsNews(meaning, report);
  const before = recordOf(record ? [record] : [], known, planned);
  const origin = { ...report, organization_id, late: known !== undefined && isLate(report, known) };
  const person = mergePerson(before, report, origin, now, refusals.participantIncomplete);
  const arrival = arrivalOf(known, said);
  const row = nextRow(meaning, said, planned);
  const { waiting_since, joined_at } = arrival;
  const { call_id, left_at } = row;
  if (kind === "first" && waiting_since === null) throw refusals.participantIncomplete();
  if (isAfter(waiting_since, left_at) || isAfter(joined_at, left_at)) {
    const comesAfterCall = call_id !== null && isAfter(waiting_since, known?.left_at);
    throw comesAfterCall ? refusals.participantLeftCall() : refusals.leftTooEarly();
  }
  if (report.user_id && !isMember) throw refusals.participantNotMember();

  const waits = left_at === null && call_id === null;
  const staysInRoom = kind === "correction" && (!waits || isLate(report, known));
  const enters = waits && !staysInRoom && !(known?.left_at === null && known.waiting_room_id === room.id);
  if (enters && !room.slug_is_current) throw refusals.slugIsOld();
  if (enters && !room.is_active) throw refusals.roomInactive();
  const waiting_room_id = staysInRoom ? known.waiting_room_id : room.id;
  // 0 stands for the record that the same transaction inserts last (see `idOfPerson`).
  const person_id = person.id ?? 0;
  const fields = { ...row, ...arrival, organization_id, key, waiting_room_id, person_id };
  return { participant: revised(known, fields, report, person !== before, now), person };
}

/** As `reviseReported`. A report that changes only the person's record counts as a change of the participation too. */
function revised(
  known: Participant | undefined,
  fields: Partial<Participant>,
  origin: ReportOrigin,
  changesPerson: boolean,
  now: number,
) {
  const row = reviseReported(known, fields, origin, now);
  return (row === known && changesPerson ? { ...row, updated_at: now } : row) as ParticipantRow;
}

interface KnownOnCall {
  call: { id: number | null; organization_id: number; waiting_room_id: number; started_at: number };
  /** The organization's participants that the report names, by key, whether they are waiting or on the call. */
  participants: Map<string, Participant>;
  /** The records of these participants, and of those whom visits plan under the reported keys. */
  people: Person[];
  planned: NamedVisit[];
  members: Set<number>;
}

/**
 * Applies a call's report to the participants that it names: participants known by the same key, such as from the waiting room,
 * or new ones. consents.merge.ts applies their decisions on consent.
 *
 * @throws ApiError 422 if the report contradicts itself or the known data
 */
export function mergeParticipantsOnCall(
  { call, participants, people, planned, members }: KnownOnCall,
  reports: ReportOnCall[],
  origin: ReportOrigin,
  now: number,
): { participants: ParticipantRow[]; people: PersonRow[] } {
  const isObserved = origin.reporter === "observer";
  const records = new Map<number, Person>(people.map((each) => [each.id, each]));
  const added: PersonRow[] = [];
  const merged = reports.map((report, place) => {
    const said_when = { ...report, call_started_at: call.started_at };
    const meaning = meaningOf(participants.get(report.key), said_when, origin);
    const { known } = meaning;
    const visit = plannedOf(planned, people, report.key);
    const id = recordOf(people, known, visit)?.id;
    const record = id === undefined ? undefined : records.get(id);
    const late = known !== undefined && isLate(origin, known);
    const said_by = { ...origin, organization_id: call.organization_id, late };
    const person =
      meaning.kind === "erased" && record
        ? record
        : mergePerson(record, report, said_by, now, () => refusals.newParticipantIncomplete(place));
    if (person.id === undefined) added.push(person);
    else records.set(person.id, person as Person);
    // An observer's reports contain only what nobody else has reported.
    const news = isObserved ? report : whatIsNews(meaning, report, origin);
    const seen = isObserved && report.joined_at !== undefined;
    const said = { ...news, key: report.key };
    const next = nextOnCall({ ...meaning, seen }, said, call, visit, person.id ?? added.length);
    return { known, next, isNew: person.id === undefined, changesPerson: person !== record };
  });
  reports.forEach(({ user_id }, place) => {
    if (user_id && !members.has(user_id)) throw refusals.participantOnCallNotMember(place);
  });
  merged.forEach(({ known, next }, place) => {
    if (known?.call_id && known.call_id !== call.id) throw refusals.participantOnAnotherCall(place);
    if (isAfter(next.joined_at, next.left_at) || isAfter(next.waiting_since, next.left_at))
      throw refusals.participantLeftTooEarly(place);
  });
  const before = new Set(people);
  return {
    participants: merged.map(({ known, next, isNew, changesPerson }) => {
      // New records are counted backwards from the last one (see `idOfPerson`).
      const row = isNew ? { ...next, person_id: next.person_id - added.length } : next;
      return revised(known, row, origin, changesPerson, now);
    }),
    people: [...added, ...[...records.values()].filter((each) => !before.has(each))],
  };
}

/** @param meaning `seen` if an observer has seen the participant's stay */
function nextOnCall(
  meaning: Meaning & { seen: boolean },
  report: ReportOnCall,
  call: KnownOnCall["call"],
  planned: PlannedParticipant | undefined,
  person_id: number,
) {
  const { kind, known, seen } = meaning;
  if (kind === "erased") return known;
  const { joined_at: _, left_at: __, ...others } = report;
  const said = kind === "late" && !seen ? others : report;
  return {
    ...nextRow(meaning, said, planned),
    ...(known && seen && stayOn(known, report)),
    ...arrivalOf(known, said),
    organization_id: call.organization_id,
    key: report.key,
    waiting_room_id: call.waiting_room_id,
    call_id: call.id,
    person_id,
  };
}

const stayOn = (known: Participant, { joined_at, left_at = null }: Times) => ({
  left_at,
  left_is_assumed: false,
  earlier_stay_until: isAfter(joined_at, known.left_at) ? known.left_at : known.earlier_stay_until,
});
