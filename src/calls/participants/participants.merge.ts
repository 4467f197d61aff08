import type { Timestamps } from "../../database/merging.ts";
import type { ApiError } from "../../http/errors.ts";
import { isLate, type ReportOrigin, reviseReported, stillUnknown } from "../../http/reports.ts";
import { withoutUndefined } from "../../http/wire.ts";
import { type NamedVisit, type PlannedParticipant, plannedOf } from "../../rooms/visits/visits.reports.ts";
import {
  leftTooEarly,
  newParticipantIncomplete,
  participantIncomplete,
  participantLeftCall,
  participantLeftTooEarly,
  participantNotMember,
  participantOnAnotherCall,
  participantOnCallNotMember,
  roomInactive,
  slugIsOld,
} from "./participants.refusals.ts";
import type { Participant, ParticipantReport, ParticipantRow, ReportOnCall } from "./participants.schemas.ts";
import { isAfter, type Meaning, meaningOf, type Times } from "./participants.stays.ts";

/** The fields of a participant about whom nothing is known. */
export const NOBODY = {
  left_is_assumed: false,
  call_id: null,
  call_started_at: null,
  visit_id: null,
  recording_consent: null,
  connections: null,
  reference_digest: null,
  erased_at: null,
};

/**
 * The next row for each kind of report, without the person's fields. A `left_at` of null does not bring back a participant who
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
  switch (kind) {
    case "return":
      return { ...before, left_at, left_is_assumed: false, earlier_stay_until };
    case "correction":
      return left_at === null ? before : { ...before, left_at, left_is_assumed: false };
    default:
      return before;
  }
}

type Stay = "organization_id" | "key" | "waiting_room_id" | "left_at" | "earlier_stay_until" | "reported_at";

type Person = Omit<ParticipantRow, "id" | Stay | keyof typeof NOBODY | keyof Timestamps>;

const CLEARABLE = ["user_id", "external_reference", "waiting_since", "joined_at"] as const;

/** The fields that reports have cleared, as the column stores them. A reported value takes a field off the list. */
function clearedBy(
  known: Participant | undefined,
  report: { [Field in keyof Person]?: unknown },
): string | null {
  const before = known?.cleared?.split(",") ?? [];
  const cleared = CLEARABLE.filter((field) =>
    report[field] === undefined ? before.includes(field) : report[field] === null,
  );
  return cleared.join(",") || null;
}

/** The fields that are still assumed after a report, as the column stores them. */
const stillAssumed = (known: Participant | undefined, report: { [Field in keyof Person]?: unknown }) =>
  known?.assumed
    ?.split(",")
    .filter((field) => report[field as keyof Person] === undefined)
    .join(",") || null;

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

/** The part of a report about fields that nobody has reported yet. */
export function unknownFields<Report extends object>(
  known: Partial<Participant>,
  report: Report,
): Partial<Report> {
  const each = (names: string | null | undefined, value: unknown) =>
    Object.fromEntries((names?.split(",") ?? []).map((field) => [field, value]));
  return stillUnknown({ ...known, ...each(known.cleared, "cleared"), ...each(known.assumed, null) }, report);
}

/**
 * The person's fields after a report. An omitted field keeps its earlier value, which is at first the one planned in the visit;
 * null clears a field.
 */
function personOf(
  known: Participant | undefined,
  planned: PlannedParticipant | undefined,
  report: { [Field in keyof Person]?: Person[Field] | undefined },
  incomplete: () => ApiError,
): Person {
  const {
    display_name,
    role,
    user_id = null,
    external_reference = null,
    waiting_since = null,
    joined_at = null,
  } = { ...(known ?? planned), ...report };
  if (display_name === undefined || role === undefined) throw incomplete();
  const cleared = clearedBy(known, report);
  const assumed = report.assumed ?? stillAssumed(known, report);
  return { display_name, role, user_id, external_reference, waiting_since, joined_at, cleared, assumed };
}

interface KnownInRoom {
  /** The room that has the slug in the path, or had it until it was renamed or retired. */
  room: { id: number; organization_id: number; is_active: boolean; slug_is_current: boolean };
  /** The participant with this key; undefined in the first report. */
  participant: Participant | undefined;
  /** The visit's participant whose key this is. */
  planned?: PlannedParticipant | undefined;
  /** Whether the report's user_id is a user of the organization. */
  isMember: boolean;
}

/**
 * Applies a report to a participant in a waiting room. A participant on a call stays in the call's room.
 *
 * @returns the known participant itself if nothing changes
 * @throws ApiError 422 if the report contradicts itself, or the participant would enter an inactive room; 404 if the participant
 *   would enter by an old slug
 */
export function mergeParticipant(
  { room, participant, planned, isMember }: KnownInRoom,
  key: string,
  report: ParticipantReport,
  now: number,
): ParticipantRow {
  const meaning = meaningOf(participant, { ...report, room_id: room.id }, report);
  const { kind, known } = meaning;
  if (kind === "erased" && isAfter(report.waiting_since, known.left_at)) throw participantLeftCall();
  if (kind === "erased" || kind === "late") return known;
  if (kind === "first" && !room.slug_is_current) throw slugIsOld();

  const said = whatIsNews(meaning, report);
  const person = personOf(known, planned, said, participantIncomplete);
  const row = nextRow(meaning, said, planned);
  const { waiting_since, joined_at } = person;
  const { call_id, left_at } = row;
  if (kind === "first" && waiting_since === null) throw participantIncomplete();
  if (isAfter(waiting_since, left_at) || isAfter(joined_at, left_at)) {
    const comesAfterCall = call_id !== null && isAfter(waiting_since, known?.left_at);
    throw comesAfterCall ? participantLeftCall() : leftTooEarly();
  }
  if (report.user_id && !isMember) throw participantNotMember();

  const waits = left_at === null && call_id === null;
  const staysInRoom = kind === "correction" && (!waits || isLate(report, known));
  const enters = waits && !staysInRoom && !(known?.left_at === null && known.waiting_room_id === room.id);
  if (enters && !room.slug_is_current) throw slugIsOld();
  if (enters && !room.is_active) throw roomInactive();
  const waiting_room_id = staysInRoom ? known.waiting_room_id : room.id;
  const fields = { ...row, ...person, organization_id: room.organization_id, key, waiting_room_id };
  return reviseReported(known, fields, report, now);
}

export interface KnownOnCall {
  call: { id: number | null; organization_id: number; waiting_room_id: number; started_at: number };
  /** The organization's participants that the report names, by key, whether they are waiting or on the call. */
  participants: Map<string, Participant>;
  planned: NamedVisit[];
  /** The user_ids of the report that are users of the organization. */
  members: Set<number>;
}

/**
 * Applies a call's report to the participants that it names: participants known by the same key, such as from the waiting room,
 * or new ones. consents.merge.ts applies their decisions on consent.
 *
 * @returns the known participant itself for each one that does not change
 * @throws ApiError 422 if the report contradicts itself or the known data
 */
export function mergeParticipantsOnCall(
  { call, participants, planned, members }: KnownOnCall,
  reports: ReportOnCall[],
  origin: ReportOrigin,
  now: number,
): ParticipantRow[] {
  const merged = reports.map((report, place) => {
    const said_when = { ...report, call_started_at: call.started_at };
    const meaning = meaningOf(participants.get(report.key), said_when, origin);
    const { key } = report;
    // LiveKit's reports contain only what nobody else has reported, and its connections.
    const news = origin.reporter === "livekit" ? report : whatIsNews(meaning, report, origin);
    const said = { ...news, key };
    return { known: meaning.known, next: nextOnCall(meaning, said, call, plannedOf(planned, key), place) };
  });
  reports.forEach(({ user_id }, place) => {
    if (user_id && !members.has(user_id)) throw participantOnCallNotMember(place);
  });
  merged.forEach(({ known, next }, place) => {
    if (known?.call_id && known.call_id !== call.id) throw participantOnAnotherCall(place);
    if (isAfter(next.joined_at, next.left_at) || isAfter(next.waiting_since, next.left_at))
      throw participantLeftTooEarly(place);
  });
  return merged.map(({ known, next }) => reviseReported(known, next, origin, now));
}

function nextOnCall(
  meaning: Meaning,
  report: ReportOnCall,
  call: KnownOnCall["call"],
  planned: PlannedParticipant | undefined,
  place: number,
) {
  const { kind, known } = meaning;
  if (kind === "erased") return known;
  const { connections = known?.connections ?? null } = report;
  const isNewStay = connections !== (known?.connections ?? null) && report.joined_at !== undefined;
  const { joined_at: _, left_at: __, ...others } = report;
  const said = kind === "late" && !isNewStay ? others : report;
  return {
    ...nextRow(meaning, said, planned),
    ...(known && isNewStay && stayOn(known, report)),
    ...personOf(known, planned, said, () => newParticipantIncomplete(place)),
    organization_id: call.organization_id,
    key: report.key,
    waiting_room_id: call.waiting_room_id,
    call_id: call.id,
    connections,
  };
}

/** If LiveKit reports a connection, exactly its times count. */
const stayOn = (known: Participant, { joined_at, left_at = null }: Times) => ({
  left_at,
  left_is_assumed: false,
  earlier_stay_until: isAfter(joined_at, known.left_at) ? known.left_at : known.earlier_stay_until,
});
