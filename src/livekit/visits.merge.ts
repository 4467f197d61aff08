import type { CallReport } from "../resources/calls/calls.merge.ts";
import type { Call } from "../resources/calls/calls.schemas.ts";
import { leaveAtEnd } from "../resources/participants/participants.merge.ts";
import type { Participant } from "../resources/participants/participants.schemas.ts";
import type { VisitEvent, Visitor } from "./events.ts";

type ReportOnCall = NonNullable<CallReport["participants"]>[number];

/** What is known when something happens in a room. */
export interface KnownVisit {
  call: Call | undefined;
  /** The organization's participants with one of the visitor's keys. */
  participants: Participant[];
  /** The visitor's user_id, if it is a user of the organization. */
  members: Set<number>;
}

/**
 * What to report of an event. The first one makes the call. Later ones report only who joined or left, and the end, so
 * that they take back no correction by the platform.
 */
export function reportOfVisit(visit: VisitEvent, known: KnownVisit): CallReport {
  const { waiting_room_slug, organization_user_id, started_at, visitor } = visit;
  const ended_at = known.call?.ended_at && !visit.has_time ? undefined : visit.ended_at;
  return {
    ...(!known.call && { waiting_room_slug, organization_user_id, started_at }),
    // LiveKit writes whole seconds, so a short visit may seem to end before it began.
    ...(ended_at !== undefined && { ended_at: Math.max(ended_at, known.call?.started_at ?? started_at) }),
    ...(visitor && { participants: [reportVisitor(visitor, visit.has_time, known)] }),
  };
}

/**
 * What to report of somebody who joined or left, so that the events of a visit lead to the same participant in every
 * order: LiveKit may send them late, and twice.
 *
 * - `joined_at` is the last time of joining. `left_at` is the last time of leaving, unless somebody joined after it.
 * - The name, the user and the consent are those of the last event that says them. An earlier event that comes late
 *   only fills in what is unknown.
 * - Somebody whom an event calls a provider is one.
 */
function reportVisitor(
  visitor: Visitor,
  hasTime: boolean,
  { call, participants, members }: KnownVisit,
): ReportOnCall {
  const key = keyOf(visitor, call, participants);
  const known = participants.find((each) => each.key === key);
  const knownLeft = known && leftByReport(known, call);
  const joined_at = latest(known?.joined_at, visitor.joined_at);
  const counts = (left?: number | null): left is number =>
    typeof left === "number" && left >= (joined_at ?? 0);
  // An event that says no time changes nothing when it is repeated.
  const left_at = !hasTime && counts(knownLeft) ? knownLeft : latest(knownLeft, visitor.left_at);
  const isNews = !known || known.call_id === null || !isLate(visitor, known, knownLeft);
  const [identity] = visitor.keys;
  const { display_name = known ? undefined : identity, recording_consent } = visitor;
  const user_id = visitor.user_id && members.has(visitor.user_id) ? visitor.user_id : undefined;
  return {
    key,
    ...(visitor.is_provider ? { role: "provider" } : !known && { role: "recipient" }),
    ...(joined_at !== undefined && { joined_at }),
    // The clock of the waiting room may be ahead of LiveKit's, which writes whole seconds.
    ...(counts(left_at) && { left_at: Math.max(left_at, known?.waiting_since ?? 0) }),
    ...(display_name && (isNews || known.display_name === identity) && { display_name }),
    ...(user_id !== undefined && (isNews || known.user_id === null) && { user_id }),
    ...(recording_consent !== undefined &&
      (isNews || known.recording_consent === null) && { recording_consent }),
  };
}

/** Somebody who has been on another call under the first key is a new participant here, whose consent counts. */
function keyOf({ keys }: Visitor, call: Call | undefined, participants: Participant[]): string {
  const [own, other] = keys;
  const callId = participants.find(({ key }) => key === own)?.call_id ?? null;
  return callId === null || callId === call?.id ? own : other;
}

/** When somebody left, as far as a report said so: not where they left only because the call ended. */
function leftByReport(known: Participant, call: Call | undefined): number | null {
  const { left_at, call_id } = known;
  if (!call || call.ended_at === null || call_id !== call.id) return left_at;
  return leaveAtEnd({ ...known, left_at: null }, call.ended_at, 0).left_at === left_at ? null : left_at;
}

/** Whether the event is older than the last one that is known. Somebody leaves after joining, within one second too. */
function isLate(
  { left_at, joined_at = 0 }: Visitor,
  known: Participant,
  knownLeft: number | null | undefined,
): boolean {
  const lastKnown = latest(known.joined_at, knownLeft) ?? 0;
  if (left_at !== undefined) return left_at < lastKnown;
  return joined_at < lastKnown || (joined_at === lastKnown && typeof knownLeft === "number");
}

function latest(...times: (number | null | undefined)[]): number | undefined {
  const known = times.filter((time) => typeof time === "number");
  return known.length > 0 ? Math.max(...known) : undefined;
}
