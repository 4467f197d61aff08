import type { Role } from "../../database/enums.ts";
import { isSameRow } from "../../database/merging.ts";
import { withoutUndefined } from "../../http/wire.ts";
import { DEFAULT_VISIT_DURATION, MAX_VISIT_AHEAD, MAX_VISIT_DURATION } from "../../lifetimes.ts";
import {
  tooManyVisits,
  visitErased,
  visitHolderOutOfReach,
  visitIsPast,
  visitParticipantIncomplete,
  visitParticipantsNotMembers,
  visitParticipantUnknown,
  visitProviderWithoutUser,
  visitRoomOutOfReach,
  visitStays,
  visitTimesWrong,
  visitTooFarAhead,
} from "./visits.refusals.ts";
import type { CreateVisit, UpdateVisit, Visit } from "./visits.schemas.ts";

/*
 * What becomes of a visit: `planned`; `started` by the first call with a recipient of it; `ended` or `missed` after its end (see
 * visits.chores.ts), and a missed one can still start; `cancelled`.
 */

/** What a plan names, as far as the caller reaches it. */
export interface KnownOfPlan {
  room: { id: number; user_id: number | null } | undefined;
  holder: { id: number; roles: Role[] } | undefined;
  /** Of the users that it names, those who have an account in the organization. */
  accounts: { id: number }[];
}

/** @throws ApiError 422 if the plan contradicts itself or what is known */
export function newVisit(
  { organization_id, isFull, ...known }: KnownOfPlan & { organization_id: number; isFull: boolean },
  input: CreateVisit,
  now: number,
) {
  if (isFull) throw tooManyVisits();
  const plan = planOf(known, undefined, input, now);
  return { organization_id, status: "planned" as const, ...plan, created_at: now, updated_at: now };
}

/**
 * The visit as a client changes it. A field left out stays.
 *
 * @returns the known visit itself where nothing changes
 * @throws ApiError 422 as above, and if the visit is over, or its names were erased
 */
export function mergeVisit(before: Visit, known: KnownOfPlan, input: UpdateVisit, now: number): Visit {
  if (before.status !== "planned" && before.status !== "started")
    throw visitStays(before.status, "changed", "planned or started");
  // What is written to it now would never be erased.
  if (before.erased_at !== null) throw visitErased();
  const next = { ...before, ...planOf(known, before, input, now) };
  if (isSameRow<Visit>(before, next)) return before;
  // Later than before, also within a millisecond: who compares the times sees each change.
  return { ...next, updated_at: Math.max(now, before.updated_at + 1) };
}

/** @throws ApiError 422 unless it is planned, or was cancelled already: then it is the known visit itself */
export function cancelVisit(visit: Visit, now: number): Visit {
  if (visit.status === "cancelled") return visit;
  if (visit.status !== "planned") throw visitStays(visit.status, "cancelled", "planned");
  return { ...visit, status: "cancelled", cancelled_at: now, updated_at: Math.max(now, visit.updated_at) };
}

function planOf(known: KnownOfPlan, before: Visit | undefined, input: UpdateVisit, now: number) {
  const where = input.waiting_room_slug === undefined && before ? roomOf(before) : known.room;
  if (!where) throw visitRoomOutOfReach();
  const starts_at = input.starts_at ?? before?.starts_at ?? now;
  const ends_at = input.ends_at ?? before?.ends_at ?? starts_at + DEFAULT_VISIT_DURATION;
  if (ends_at <= starts_at || ends_at - starts_at > MAX_VISIT_DURATION) throw visitTimesWrong();
  if (ends_at !== before?.ends_at && ends_at <= now) throw visitIsPast();
  if (ends_at !== before?.ends_at && ends_at > now + MAX_VISIT_AHEAD) throw visitTooFarAhead();
  const { external_reference = before?.external_reference ?? null } = input;
  const named = namedIn(input, before);
  const users = [
    ...known.accounts.map(({ id }) => id),
    ...(before?.participants ?? []).map((each) => each.user_id),
  ];
  if (named.participants.some(({ user_id }) => user_id && !users.includes(user_id)))
    throw visitParticipantsNotMembers();
  return {
    waiting_room_id: where.id,
    organization_user_id: holderOf(where.user_id, before?.organization_user_id, known.holder, input),
    external_reference,
    starts_at,
    ends_at,
    ...named,
  };
}

const roomOf = ({ waiting_room_id, room_owner_id }: Visit) => ({
  id: waiting_room_id,
  user_id: room_owner_id,
});

/** In a personal room its owner, in an organization's room a provider or nobody. */
function holderOf(
  owner_id: number | null,
  before: number | null | undefined,
  holder: KnownOfPlan["holder"],
  { organization_user_id: said }: UpdateVisit,
): number | null {
  if (owner_id !== null) {
    if (said && said !== owner_id) throw visitHolderOutOfReach();
    return owner_id;
  }
  if (said === undefined) return before ?? null;
  if (said !== null && said !== before && !holder?.roles.includes("provider")) throw visitHolderOutOfReach();
  return said;
}

/**
 * Those whom a visit names: who was known by their id, and then the new ones.
 *
 * @throws ApiError 422 if an id is unknown, somebody new has no name or role, or a provider no user_id
 */
export function namedIn(
  { participants: wanted }: UpdateVisit,
  before: Pick<Visit, "participants" | "last_participant_id"> = { participants: [], last_participant_id: 0 },
): Pick<Visit, "participants" | "last_participant_id"> {
  let { participants, last_participant_id } = before;
  if (!wanted) return { participants, last_participant_id };
  const known = new Map(participants.map((each) => [each.id, each]));
  const ids = wanted.flatMap(({ id }) => id ?? []);
  if (new Set(ids).size < ids.length || ids.some((id) => !known.has(id))) throw visitParticipantUnknown();
  participants = wanted.map(({ id = ++last_participant_id, ...fields }) => {
    const said: Partial<(typeof participants)[number]> = { ...known.get(id), ...withoutUndefined(fields) };
    const { role, display_name, user_id = null, external_reference = null } = said;
    if (role === undefined || display_name === undefined) throw visitParticipantIncomplete();
    if (role === "provider" && user_id === null) throw visitProviderWithoutUser();
    return { id, role, display_name, user_id, external_reference };
  });
  return { participants: participants.sort((a, b) => a.id - b.id), last_participant_id };
}
