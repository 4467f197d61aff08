import type { Role } from "../../database/enums.ts";
import type { NewRow } from "../../database/insert.ts";
import { isSameRow, type Timestamps } from "../../database/merging.ts";
import { withoutUndefined } from "../../http/wire.ts";
import { DEFAULT_VISIT_DURATION, MAX_VISIT_AHEAD, MAX_VISIT_DURATION } from "../../lifetimes.ts";
import { correctPerson, newPerson } from "../people/people.merge.ts";
import type { Person, PersonRow } from "../people/people.sql.ts";
import * as refusals from "./visits.refusals.ts";
import type { CreateVisit, UpdateVisit, Visit } from "./visits.schemas.ts";
import type { visits } from "./visits.table.ts";

/*
 * The status of a visit: `planned`; `started` by the first call with one of its recipients; `ended` or `missed` after its end (see
 * visits.chores.ts), and a missed visit can still start; `cancelled`.
 */

/** The room, holder and users that a plan names, if the caller reaches them. */
interface KnownOfPlan {
  room: { id: number; user_id: number | null } | undefined;
  holder: { id: number; roles: Role[] } | undefined;
  accounts: { id: number }[];
}

/** The columns of a visit that only the service sets. */
const PLANNED = { status: "planned", cancelled_at: null, corrections: 0, reference_erased_at: null } as const;

type NewVisit = NewRow<typeof visits>;

/** @throws ApiError 422 if the plan contradicts itself or the known data */
export function newVisit(
  { organization_id, isFull, ...known }: KnownOfPlan & { organization_id: number; isFull: boolean },
  input: CreateVisit,
  now: number,
): NewVisit {
  if (isFull) throw refusals.tooManyVisits();
  const plan = { ...planOf(known, undefined, input, now), last_participant_id: input.participants.length };
  return { organization_id, ...PLANNED, ...plan, created_at: now, updated_at: now };
}

/**
 * Applies a client's update to a visit. Omitted fields keep their values.
 *
 * @returns the known visit itself if nothing visible changes; the people who are new or change, and the ids of those who are removed
 * @throws ApiError 422 as `newVisit`, and if the visit is over, or its reference or a changed participant was erased
 */
export function mergeVisit(
  before: Visit,
  people: Person[],
  known: KnownOfPlan,
  input: UpdateVisit,
  now: number,
) {
  if (!isChangeable(before.status)) throw refusals.visitStays(before.status, "changed", "planned or started");
  if (before.reference_erased_at !== null && input.external_reference) throw refusals.visitReferenceErased();
  if (!isChangeable(input.status ?? before.status)) throw refusals.visitStatusStays();
  if (input.waiting_room_id !== undefined && input.waiting_room_id !== before.waiting_room_id)
    throw refusals.visitRoomStays();
  const named = namedIn(input, { ...before, people }, now);
  const updates = new Map(people.map(({ id, updated_at }) => [id, updated_at]));
  const isShown = named.people.some(({ id = 0, updated_at }) => updates.get(id) !== updated_at);
  const { last_participant_id } = named;
  const next = { ...before, ...planOf(known, before, input, now), last_participant_id };
  const { removed } = named;
  const changes = { people: named.people.filter((each) => !people.includes(each as Person)), removed };
  if (isSameRow<Visit>(before, next) && !isShown && removed.length === 0)
    return { visit: before, ...changes };
  // The new time is always later than the last one, even within a millisecond, so that comparing the times shows each change.
  return { visit: { ...next, updated_at: Math.max(now, before.updated_at + 1) }, ...changes };
}

/** A visit can start while a client changes it, so an update may send either of the two statuses. */
const isChangeable = (status: Visit["status"]) => status === "planned" || status === "started";

/**
 * @returns the known visit itself if it was already cancelled
 * @throws ApiError 422 unless the visit is planned or cancelled
 */
export function cancelVisit(visit: Visit, now: number): Visit {
  if (visit.status === "cancelled") return visit;
  if (visit.status !== "planned") throw refusals.visitStays(visit.status, "cancelled", "planned");
  return { ...visit, status: "cancelled", cancelled_at: now, updated_at: Math.max(now, visit.updated_at) };
}

function planOf(
  known: KnownOfPlan,
  before: Visit | undefined,
  input: UpdateVisit,
  now: number,
): Omit<NewVisit, "organization_id" | keyof typeof PLANNED | "last_participant_id" | keyof Timestamps> {
  const isSameRoom = input.waiting_room_slug === undefined && before;
  const where = isSameRoom ? { id: before.waiting_room_id, user_id: before.room_owner_id } : known.room;
  if (!where) throw refusals.visitRoomOutOfReach();
  const starts_at = input.starts_at ?? before?.starts_at ?? now;
  const duration = before ? before.ends_at - before.starts_at : DEFAULT_VISIT_DURATION;
  const ends_at = input.ends_at ?? starts_at + duration;
  const sent = input.ends_at === undefined ? "starts_at" : "ends_at";
  if (ends_at <= starts_at || ends_at - starts_at > MAX_VISIT_DURATION) throw refusals.visitTimesWrong();
  if (ends_at !== before?.ends_at && ends_at <= now) throw refusals.visitIsPast(sent);
  if (ends_at !== before?.ends_at && ends_at > now + MAX_VISIT_AHEAD) throw refusals.visitTooFarAhead(sent);
  const { external_reference = before?.external_reference ?? null } = input;
  const users = [
    ...known.accounts.map(({ id }) => id),
    ...(before?.participants ?? []).map((each) => each.user_id),
  ];
  input.participants?.forEach(({ user_id }, place) => {
    if (user_id && !users.includes(user_id)) throw refusals.visitParticipantNotMember(place);
  });
  return {
    waiting_room_id: where.id,
    organization_user_id: holderOf(where.user_id, before?.organization_user_id, known.holder, input),
    external_reference,
    starts_at,
    ends_at,
  };
}

/** The holder is the owner in a personal room, and a provider or nobody in an organization's room. */
function holderOf(
  owner_id: number | null,
  before: number | null | undefined,
  holder: KnownOfPlan["holder"],
  { organization_user_id: said }: UpdateVisit,
): number | null {
  if (owner_id !== null) {
    if (said && said !== owner_id) throw refusals.visitHolderOutOfReach();
    return owner_id;
  }
  if (said === undefined) return before ?? null;
  if (said !== null && said !== before && !holder?.roles.includes("provider"))
    throw refusals.visitHolderOutOfReach();
  return said;
}

interface KnownPeople {
  organization_id: number;
  /** Undefined before the visit is stored. */
  id?: number;
  people: Person[];
  last_participant_id?: number;
}

/**
 * The people whom a visit names: the known ones, found by their id, and then the new ones; and the ids of the removed records.
 *
 * @throws ApiError 422 if an id is unknown, a new participant has no name or role, a provider has no user_id, or a participant who is
 *   changed was erased
 */
export function namedIn(
  { participants: wanted }: UpdateVisit,
  { organization_id, id: visit_id, people, last_participant_id = 0 }: KnownPeople,
  now: number,
): { people: PersonRow[]; removed: number[]; last_participant_id: number } {
  if (!wanted) return { people, removed: [], last_participant_id };
  const known = new Map<number | null, PersonRow>(people.map((each) => [each.number, each]));
  const ids = wanted.map(({ id }) => id);
  ids.forEach((id, place) => {
    if (id && (!known.has(id) || ids.indexOf(id) < place)) throw refusals.visitParticipantUnknown(place);
  });
  const named = wanted.map(({ id, ...fields }, place) => {
    const before = id === undefined ? undefined : known.get(id);
    const { role, display_name, user_id = null } = { ...before, ...withoutUndefined(fields) };
    if (role === undefined || display_name === undefined) throw refusals.visitParticipantIncomplete(place);
    if (role === "provider" && user_id === null) throw refusals.visitProviderWithoutUser(place);
    const of_visit = { organization_id, visit_id: visit_id ?? null };
    const person =
      before ?? newPerson({ ...of_visit, number: ++last_participant_id, role, display_name }, now);
    return correctPerson(person, fields, now, { erased: () => refusals.visitParticipantErased(place) });
  });
  const removed = people.filter(({ number }) => !ids.includes(number ?? 0)).map(({ id }) => id);
  return { people: named, removed, last_participant_id };
}
