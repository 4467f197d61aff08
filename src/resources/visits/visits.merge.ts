import type { Role } from "../../database/enums.ts";
import { isSameRow } from "../../database/merging.ts";
import { withoutUndefined } from "../../http/wire.ts";
import { DEFAULT_VISIT_DURATION, MAX_VISIT_DURATION, VISITS_PLANNED_AHEAD } from "../../lifetimes.ts";
import {
  tooManyVisits,
  visitHolderOutOfReach,
  visitIsPast,
  visitNotCancellable,
  visitParticipantIncomplete,
  visitParticipantsNotMembers,
  visitParticipantUnknown,
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
  /** Of the users that it names, those who are of the organization. */
  members: Set<number>;
}

/** Somebody of a visit. A new one has no id yet. */
export type ParticipantOfPlan = Omit<Visit["participants"][number], "id"> & { id: number | null };

interface Plan<Row> {
  visit: Row;
  /** Null where they stay as they are. */
  participants: ParticipantOfPlan[] | null;
}

/** @throws ApiError 422 if the plan contradicts itself or what is known */
export function newVisit(
  { organization_id, isFull, ...known }: KnownOfPlan & { organization_id: number; isFull: boolean },
  input: CreateVisit,
  now: number,
) {
  if (isFull) throw tooManyVisits();
  const visit = {
    organization_id,
    status: "planned" as const,
    ...planOf(known, undefined, input, now),
    created_at: now,
    updated_at: now,
  };
  return { visit, participants: participantsOfPlan(known, [], input.participants) };
}

/**
 * The visit as a client changes it. A field left out stays.
 *
 * @returns the known visit itself where nothing changes
 * @throws ApiError 422 as above, and if the visit is over
 */
export function mergeVisit(before: Visit, known: KnownOfPlan, input: UpdateVisit, now: number): Plan<Visit> {
  if (before.status !== "planned" && before.status !== "started") throw visitStays(before.status);
  const next = { ...before, ...planOf(known, before, input, now) };
  const list = input.participants && participantsOfPlan(known, before.participants, input.participants);
  const isSameList = !list || isSameInAnyOrder(list, before.participants);
  if (isSameList && isSameRow(before, next)) return { visit: before, participants: null };
  // Later than before, also within a millisecond: who compares the times sees each change.
  return {
    visit: { ...next, updated_at: Math.max(now, before.updated_at + 1) },
    participants: isSameList ? null : list,
  };
}

/** @throws ApiError 422 unless it is planned, or was cancelled already: then it is the known visit itself */
export function cancelVisit(visit: Visit, now: number): Visit {
  if (visit.status === "cancelled") return visit;
  if (visit.status !== "planned") throw visitNotCancellable(visit.status);
  return { ...visit, status: "cancelled", updated_at: now };
}

function isSameInAnyOrder(list: ParticipantOfPlan[], before: Visit["participants"]): boolean {
  const known = new Set(before.map((each) => JSON.stringify(each)));
  return list.length === before.length && list.every((each) => known.has(JSON.stringify(each)));
}

function planOf({ room, holder }: KnownOfPlan, before: Visit | undefined, input: UpdateVisit, now: number) {
  const where = input.waiting_room_slug === undefined && before ? roomOf(before) : room;
  if (!where) throw visitRoomOutOfReach();
  const starts_at = input.starts_at ?? before?.starts_at ?? now;
  const ends_at = input.ends_at ?? before?.ends_at ?? starts_at + DEFAULT_VISIT_DURATION;
  if (ends_at <= starts_at || ends_at - starts_at > MAX_VISIT_DURATION) throw visitTimesWrong();
  if (ends_at !== before?.ends_at && ends_at <= now) throw visitIsPast();
  if (starts_at > now + VISITS_PLANNED_AHEAD) throw visitTooFarAhead();
  const { external_reference = before?.external_reference ?? null } = input;
  return {
    waiting_room_id: where.id,
    organization_user_id: holderOf(where.user_id, before?.organization_user_id, holder, input),
    external_reference,
    starts_at,
    ends_at,
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

/** The list as a client wants it: known ones with an id, changed or not, and new ones without. */
function participantsOfPlan(
  { members }: KnownOfPlan,
  before: Visit["participants"],
  wanted: NonNullable<UpdateVisit["participants"]>,
): ParticipantOfPlan[] {
  const ids = wanted.flatMap(({ id }) => id ?? []);
  const areKnown = ids.every((id) => before.some((each) => each.id === id));
  if (!areKnown || new Set(ids).size < ids.length) throw visitParticipantUnknown();
  if (wanted.some(({ user_id }) => user_id && !members.has(user_id))) throw visitParticipantsNotMembers();
  return wanted.map(({ id = null, ...fields }) => {
    const known = before.find((each) => each.id === id);
    const {
      role,
      display_name,
      user_id = null,
      external_reference = null,
    } = { ...known, ...withoutUndefined(fields) };
    if (role === undefined || display_name === undefined) throw visitParticipantIncomplete();
    return { id, role, display_name, user_id, external_reference };
  });
}
