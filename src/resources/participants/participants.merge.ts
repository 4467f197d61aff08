import type { ApiError } from "../../http/errors.ts";
import { isLate, type ReportOrigin, reviseReported, stillUnknown } from "../../http/reports.ts";
import { withoutUndefined } from "../../http/wire.ts";
import { type NamedVisit, type PlannedParticipant, plannedOf } from "../visits/visits.reports.ts";
import {
  leftTooEarly,
  newParticipantIncomplete,
  participantIncomplete,
  participantLeftCall,
  participantNotMember,
  participantOnAnotherCall,
  participantsLeftTooEarly,
  participantsNotMembers,
  roomInactive,
  slugIsOld,
} from "./participants.refusals.ts";
import type { Participant, ParticipantReport, ParticipantRow, ReportOnCall } from "./participants.schemas.ts";
import {
  isAfter,
  type Meaning,
  meaningOf,
  NO_EVENTS,
  type Times,
  withEventTimes,
} from "./participants.stays.ts";

/** The fields of somebody of whom nothing is known. */
const NOBODY = {
  ...NO_EVENTS,
  call_id: null,
  call_started_at: null,
  visit_id: null,
  recording_consent: null,
  joined_by_name_at: null,
  reference_digest: null,
  erased_at: null,
};

/**
 * The next row for each kind of report, without what it says of the person. A `left_at` of null does not bring back
 * somebody who has left: reports can be late.
 */
function nextRow(
  { kind, known, earlier_stay_until }: Meaning,
  { left_at = null }: Times,
  planned: PlannedParticipant | undefined,
) {
  const visit_id = planned?.visit_id ?? null;
  if (kind === "first") return { ...NOBODY, visit_id, left_at, earlier_stay_until };
  // Who waits when a visit is cancelled, or no longer names them, is not of it any more.
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

type Person = Pick<
  ParticipantRow,
  | "display_name"
  | "role"
  | "user_id"
  | "external_reference"
  | "waiting_since"
  | "joined_at"
  | "livekit_said"
  | "cleared"
>;

const CLEARABLE = ["user_id", "external_reference", "waiting_since", "joined_at"] as const;

/** The fields that reports have cleared, as the column has them. A value brings a field back. */
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

/** Of a late report, what is not known; and when another stay was, which nobody has told yet. */
function whatIsNews<Report extends Times & ReportOrigin>(
  { kind, known }: Meaning,
  report: Report,
  origin: ReportOrigin = report,
): Partial<Report> {
  if (!known || !isLate(origin, known)) return report;
  const cleared = Object.fromEntries((known.cleared?.split(",") ?? []).map((field) => [field, "cleared"]));
  const { waiting_since, joined_at, left_at } = report;
  return {
    ...stillUnknown({ ...known, ...cleared, livekit_said: null }, report),
    ...(kind === "return" && withoutUndefined({ waiting_since, joined_at, left_at })),
  };
}

/**
 * What a report says of a person. A field left out stays as reported before, or is at first as a visit has planned it; null clears
 * it.
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
    livekit_said = null,
  } = { ...(known ?? planned), ...report };
  if (display_name === undefined || role === undefined) throw incomplete();
  const cleared = clearedBy(known, report);
  return { display_name, role, user_id, external_reference, waiting_since, joined_at, livekit_said, cleared };
}

/** What is known when somebody in a waiting room is reported. */
interface KnownInRoom {
  /** The room that has the slug of the path, or had it until it was renamed or retired. */
  room: { id: number; organization_id: number; is_active: boolean; slug_is_current: boolean };
  /** The participant with this key; undefined in the first report. */
  participant: Participant | undefined;
  /** Whom of a visit the key names. */
  planned?: PlannedParticipant | undefined;
  /** Whether the report's user_id is a user of the organization. */
  isMember: boolean;
}

/**
 * What a report makes of somebody in a waiting room. A participant on a call stays in its room.
 *
 * @returns the known participant itself where nothing changes
 * @throws ApiError 422 if the report contradicts itself, or somebody would enter an inactive room; 404 if somebody new
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
  const next = reviseReported(known, fields, report, now);
  return next === known ? known : withEventTimes(known, next);
}

/** What is known when somebody on a call is reported. */
export interface KnownOnCall {
  call: { id: number | null; organization_id: number; waiting_room_id: number; started_at: number };
  /** The organization's participants whom the report names, by key: those who wait, and those on the call. */
  participants: Map<string, Participant>;
  /** The visits that the keys name. */
  planned: NamedVisit[];
  /** The user_ids of the report that are users of the organization. */
  members: Set<number>;
}

/**
 * What a call's report makes of the participants whom it names: those of the waiting room by the same key, or new
 * ones. What it says of their consent is in consents.merge.ts.
 *
 * @returns each known participant itself where nothing changes
 * @throws ApiError 422 if the report contradicts itself or what is known
 */
export function mergeParticipantsOnCall(
  { call, participants, planned, members }: KnownOnCall,
  reports: ReportOnCall[],
  origin: ReportOrigin,
  now: number,
): ParticipantRow[] {
  const merged = reports.map((report) => {
    const said_when = { ...report, call_started_at: call.started_at };
    const meaning = meaningOf(participants.get(report.key), said_when, origin);
    const { key, joined_by_name_at = null } = report;
    const said = { ...whatIsNews(meaning, report, origin), key, joined_by_name_at };
    return { known: meaning.known, next: nextOnCall(meaning, said, call, plannedOf(planned, key)) };
  });
  if (reports.some(({ user_id }) => user_id && !members.has(user_id))) throw participantsNotMembers();
  if (merged.some(({ known }) => known?.call_id && known.call_id !== call.id))
    throw participantOnAnotherCall();
  if (
    merged.some(
      ({ next }) => isAfter(next.joined_at, next.left_at) || isAfter(next.waiting_since, next.left_at),
    )
  )
    throw participantsLeftTooEarly();
  return merged.map(({ known, next }) => reviseReported(known, next, origin, now));
}

function nextOnCall(
  meaning: Meaning,
  report: ReportOnCall & Pick<Participant, "joined_by_name_at">,
  call: KnownOnCall["call"],
  planned: PlannedParticipant | undefined,
) {
  const { kind, known } = meaning;
  if (kind === "erased") return known;
  const { joined_by_name_at, ...reported } = report;
  const { joined_at: _, left_at: __, ...others } = reported;
  const said = kind === "late" ? others : reported;
  return {
    ...nextRow(meaning, said, planned),
    ...personOf(known, planned, said, newParticipantIncomplete),
    organization_id: call.organization_id,
    key: report.key,
    waiting_room_id: call.waiting_room_id,
    call_id: call.id,
    joined_by_name_at,
  };
}
