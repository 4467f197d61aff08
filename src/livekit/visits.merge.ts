import type { CallReport } from "../resources/calls/calls.merge.ts";
import type { Call } from "../resources/calls/calls.schemas.ts";
import { leaveAtEnd, type ReportOnCall } from "../resources/participants/participants.merge.ts";
import type { Participant } from "../resources/participants/participants.schemas.ts";
import type { VisitEvent, Visitor } from "./events.ts";

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
  const { call } = known;
  // Nobody has reported an end that was assumed.
  const knownEnd = call?.end_is_assumed ? null : call?.ended_at;
  const ended_at = knownEnd && !visit.has_time ? undefined : visit.ended_at;
  return {
    ...(!call && { waiting_room_slug, organization_user_id, started_at }),
    ...(call && startsEarlier(visit, call) && { started_at }),
    // LiveKit writes whole seconds, so a short visit may seem to end before it began. A room may open and close again.
    ...(ended_at !== undefined && {
      ended_at: Math.max(ended_at, call?.started_at ?? started_at, knownEnd ?? 0),
    }),
    ...(visitor && { participants: [reportVisitor(visitor, visit.has_time, known)] }),
  };
}

/** Without the time when the room was made, its call starts with the earliest event. */
const startsEarlier = ({ room_sid, has_start, has_time, started_at }: VisitEvent, call: Call): boolean =>
  call.key === room_sid && !has_start && has_time && started_at < call.started_at;

/**
 * What to report of somebody who joined or left, so that the events of a visit lead to the same participant in every
 * order: LiveKit may send them late, and twice.
 *
 * - `joined_at` is the last time of joining. `left_at` is the last time of leaving, unless somebody joined after it.
 * - The name, the user and the consent are each those of the last event that says them, so it is known for each when
 *   that was. An event counts once: what the platform corrects later stays.
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
  const { recording_consent, said_at } = visitor;
  const user_id = visitor.user_id && members.has(visitor.user_id) ? visitor.user_id : undefined;
  const news = newsOf({ display_name: visitor.display_name, user_id, recording_consent }, said_at, known);
  const [identity] = visitor.keys;
  return {
    key,
    ...(!known && { display_name: identity }),
    ...(visitor.is_provider ? { role: "provider" } : !known && { role: "recipient" }),
    ...(joined_at !== undefined && { joined_at }),
    // The clock of the waiting room may be ahead of LiveKit's, which writes whole seconds.
    ...(counts(left_at) && { left_at: Math.max(left_at, known?.waiting_since ?? 0) }),
    ...news,
  };
}

type Said = Partial<Pick<ReportOnCall, "display_name" | "user_id" | "recording_consent">>;

/** Of what an event says, that on which no later one has had a word yet; and when that was said. */
function newsOf(said: Said, said_at: number, known: Participant | undefined): Partial<ReportOnCall> {
  const before: Record<string, number> = JSON.parse(known?.livekit_said_at ?? "{}");
  const news = Object.entries(said).filter(
    ([field, value]) => value !== undefined && said_at > (before[field] ?? -1),
  );
  if (news.length === 0) return {};
  const times = { ...before, ...Object.fromEntries(news.map(([field]) => [field, said_at])) };
  return { ...Object.fromEntries(news), livekit_said_at: JSON.stringify(times, Object.keys(said)) };
}

/** Somebody who has been on another call under the first key is a new participant here, whose consent counts. */
function keyOf({ keys }: Visitor, call: Call | undefined, participants: Participant[]): string {
  const [own, other] = keys;
  const callId = participants.find(({ key }) => key === own)?.call_id ?? null;
  return callId === null || callId === call?.id ? own : other;
}

/** When somebody left, as far as a report said so: not where they left only because the call ended. */
function leftByReport(known: Participant, call: Call | undefined): number | null {
  const { left_at, left_is_assumed, call_id } = known;
  if (left_is_assumed) return null;
  if (!call || call.ended_at === null || call_id !== call.id) return left_at;
  return leaveAtEnd({ ...known, left_at: null }, call.ended_at, 0).left_at === left_at ? null : left_at;
}

function latest(...times: (number | null | undefined)[]): number | undefined {
  const known = times.filter((time) => typeof time === "number");
  return known.length > 0 ? Math.max(...known) : undefined;
}
