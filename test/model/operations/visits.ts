import { isDeepStrictEqual } from "node:util";
import { DAY, HOUR, MINUTE } from "../../../src/units.ts";
import { dateIn } from "../../support/time_zones.ts";
import {
  type Choice,
  kind,
  list,
  NAME,
  nullable,
  object,
  oneOf,
  required,
  resource,
  someOf,
  time,
  usual,
  verbatim,
} from "../kinds.ts";
import {
  type Caller,
  type Input,
  idOf,
  invalid,
  Learned,
  type Member,
  type Model,
  matches,
  newRow,
  notFound,
  type Organization,
  ownedBy,
  pageAfter,
  Refusal,
  type Request,
  type Room,
  timestamp,
  unprocessable,
  type Visit,
  view,
  withId,
} from "../model.ts";
import {
  AFTER,
  bodyId,
  DATE,
  MEMBER,
  type Operations,
  pathOf,
  pickOwned,
  queryId,
  RANGE,
  referenceOf,
} from "../operation.ts";
import { membersOf, reachOf } from "./members.ts";
import { destinationOf } from "./rooms.ts";

export const REFERENCES = ["A-1", "B 2"];
export const PEOPLE = ["P-1", "P 2"];

export const REFERENCE = nullable(verbatim(255, REFERENCES));
export const PERSON_REFERENCE = nullable(verbatim(255, PEOPLE));
export const PARTICIPANT_ROLE = oneOf(["recipient", "recipient", "provider"]);
export const USER = nullable(MEMBER);

export const METRICS_QUERY = {
  date_start: DATE,
  date_end: DATE,
  user_id: queryId((model) => model.members),
  waiting_room_id: queryId((model) => model.rooms),
  days: oneOf(["local"], ["utc", "Local"]),
};

const listed = (visit: Visit) =>
  view(visit, "external_reference status starts_at ends_at participants created_at updated_at", {
    waiting_room_id: idOf(visit.room),
    organization_user_id: visit.holder && idOf(visit.holder),
    call_ids: [],
  });

const shown = (model: Model, visit: Visit) => ({
  ...listed(visit),
  participants: visit.participants.map((each) => ({
    ...each,
    join_url: new Learned((url: string) => {
      model.visitLinks.set(new URL(url).searchParams.get("visit") ?? "", { visit, participant: each.id });
    }),
  })),
});

/** Whether the caller sees what belongs to this member, or to the whole organization. */
const isReached = (model: Model, caller: Caller) => (organization: Organization, owner: Member | null) =>
  organization === caller.organization && (!owner || reachOf(model, caller).includes(owner));

/** A room of the organization, or the personal room of a provider whom the caller reaches. */
export const reachedRoom = (model: Model, caller: Caller, slug: string | undefined): Room | undefined =>
  model.rooms.find(
    ({ organization, owner, is_retired, slug: own }) =>
      !is_retired && own === slug?.toLowerCase() && isReached(model, caller)(organization, owner),
  );

const visitsOf = (model: Model, caller: Caller) =>
  model.visits.filter(({ organization, holder }) => isReached(model, caller)(organization, holder));

const visitOf = (model: Model, { caller, path }: Request): Visit => withId(visitsOf(model, caller), path.id);

const PARTICIPANT = {
  role: PARTICIPANT_ROLE,
  display_name: NAME,
  user_id: usual(USER),
  external_reference: PERSON_REFERENCE,
};

const NEWCOMER = { ...PARTICIPANT, role: required(PARTICIPANT_ROLE), display_name: required(NAME) };

const aRoomSlug = (choice: Choice) => {
  const rooms = choice.model.rooms.filter(({ is_retired }) => !is_retired);
  return pickOwned(choice, rooms)?.slug ?? "nowhere--room";
};

const minutesAhead = (minutes: readonly number[]) =>
  time(
    (now, chance) => now + chance.pick(minutes) * MINUTE,
    ["tomorrow", "2026-01-31", "2026-01-31T09:30", 5],
  );

const VISIT = {
  waiting_room_slug: kind(aRoomSlug, [5]),
  organization_user_id: USER,
  starts_at: minutesAhead([60, 90, 120, 1440]),
  ends_at: minutesAhead([1500, 150, 30, 3000]),
  external_reference: REFERENCE,
};

/** The people whom a plan names: the known ones, found by their id, and then the new ones. */
function namedIn(visit: Visit | undefined, participants: Input[] | undefined) {
  const known = visit?.participants ?? [];
  let last = visit?.lastParticipant ?? 0;
  if (!participants) return { people: known, last };
  const ids = participants.map(({ id }) => id).filter((id) => id !== undefined);
  if (ids.some((id, n) => !known.some((each) => each.id === id) || ids.indexOf(id) < n))
    throw unprocessable("participant_unknown");
  const people = participants.map((said) => {
    const before = known.find(({ id }) => id === said.id);
    const next = { user_id: null, external_reference: null, ...before, ...said };
    if (next.role === undefined || next.display_name === undefined)
      throw unprocessable("participant_incomplete");
    if (next.role === "provider" && next.user_id === null) throw unprocessable("provider_without_account");
    return { ...next, id: before?.id ?? ++last };
  });
  return { people: people.sort((one, other) => one.id - other.id), last };
}

function holderOf(model: Model, caller: Caller, room: Room, before: Member | null, said: Input) {
  if (room.owner) {
    if (said && said !== room.owner.id) throw unprocessable("not_a_provider");
    return room.owner;
  }
  if (said === null) return null;
  if (said === undefined || said === before?.id) return before;
  const holder = reachOf(model, caller).find(({ id }) => id === said);
  if (!holder?.roles.includes("provider")) throw unprocessable("not_a_provider");
  return holder;
}

/** Whatever a new visit and a changed one have in common. */
function planOf(model: Model, caller: Caller, before: Visit | undefined, input: Input) {
  const room =
    input.waiting_room_slug === undefined
      ? before?.room
      : reachedRoom(model, caller, input.waiting_room_slug);
  if (!room) throw unprocessable("room_unknown");
  const starts_at = input.starts_at ?? before?.starts_at;
  const ends_at = input.ends_at ?? starts_at + (before ? before.ends_at - before.starts_at : HOUR);
  if (ends_at <= starts_at || ends_at - starts_at > DAY) throw invalid();
  if (ends_at !== before?.ends_at && (ends_at <= model.now || ends_at > model.now + 730 * DAY))
    throw invalid();
  const users = membersOf(model, caller.organization)
    .filter(({ roles }) => roles.length > 0)
    .map(({ id }) => id);
  const known = (before?.participants ?? []).map(({ user_id }) => user_id);
  for (const { user_id } of input.participants ?? [])
    if (user_id && ![...users, ...known].includes(user_id)) throw unprocessable("not_a_member");
  const holder = holderOf(model, caller, room, before?.holder ?? null, input.organization_user_id);
  const external_reference =
    input.external_reference === undefined ? (before?.external_reference ?? null) : input.external_reference;
  return { room, holder, external_reference, starts_at, ends_at };
}

const aVisit = pathOf(({ visits }) => visits);

export const VISITS: Operations = {
  "external GET /visits": {
    isRecorded: true,
    query: {
      ...RANGE,
      ...AFTER,
      status: oneOf(["planned", "cancelled", "started"], ["open"]),
      external_reference: referenceOf(REFERENCES),
      participant_reference: referenceOf(PEOPLE),
      organization_user_id: queryId(({ members }) => members),
    },
    play(model, { caller, query }) {
      const visits = visitsOf(model, caller).filter(
        matches(query, ({ status, external_reference, participants, holder }) => ({
          ...{ status, external_reference, organization_user_id: holder?.id },
          participant_reference: participants.map((each) => each.external_reference),
        })),
      );
      return pageAfter("visits", visits, { model, query }, ({ starts_at }) => starts_at, listed);
    },
  },
  "external POST /visits": {
    body: resource("visit", {
      ...VISIT,
      waiting_room_slug: required(VISIT.waiting_room_slug),
      starts_at: required(VISIT.starts_at),
      participants: required(list(object(NEWCOMER), 1, 20)),
    }),
    play(model, { caller, body: { visit: input } }) {
      const { people, last } = namedIn(undefined, input.participants);
      const visit: Visit = {
        ...{ ...newRow(model), organization: caller.organization, status: "planned" },
        ...{ ...planOf(model, caller, undefined, input), participants: people, lastParticipant: last },
      };
      model.visits.push(visit);
      return shown(model, visit);
    },
  },
  "external GET /visits/{id}": {
    isRecorded: true,
    path: aVisit,
    play: (model, request) => shown(model, visitOf(model, request)),
  },
  "external PUT /visits/{id}": {
    isRecorded: true,
    path: aVisit,
    body: resource("visit", {
      ...VISIT,
      status: oneOf(["planned", "cancelled"]),
      waiting_room_id: bodyId(({ rooms }) => rooms),
      participants: list(object({ ...PARTICIPANT, id: someOf([1, 1, 2, 3], [0, "1"]) }), 1, 20),
    }),
    play(model, request) {
      const visit = visitOf(model, request);
      const { status, waiting_room_id, ...input } = request.body.visit;
      if (visit.status !== "planned") throw unprocessable("visit_not_changeable");
      if ((status ?? "planned") !== "planned") throw unprocessable("field_not_changeable");
      if (waiting_room_id !== undefined && waiting_room_id !== visit.room.id)
        throw unprocessable("field_not_changeable");
      const { people, last } = namedIn(visit, input.participants);
      const next = { ...planOf(model, request.caller, visit, input), participants: people };
      const isSame = isDeepStrictEqual({ ...visit, ...next }, visit);
      Object.assign(visit, next, { lastParticipant: last, ...(isSame ? {} : { updated_at: model.now }) });
      return shown(model, visit);
    },
  },
  "external DELETE /visits/{id}": {
    path: aVisit,
    play(model, request) {
      const visit = visitOf(model, request);
      if (visit.status === "planned") Object.assign(visit, { status: "cancelled", updated_at: model.now });
    },
  },
  "external GET /visit_metrics": {
    query: METRICS_QUERY,
    play(model, request) {
      const each = metricsOf(
        model,
        request,
        model.visits.map((visit) => ({ ...visit, started_at: visit.starts_at })),
      );
      const count = (wanted: string) =>
        each((visits) => visits.filter(({ status }) => status === wanted).length);
      return Object.fromEntries(
        ["planned", "held", "missed", "cancelled"].map((status) => [status, count(status)]),
      );
    },
  },
  "platform POST /visits/redeem": {
    status: 200,
    body: object({
      token: required(
        kind(({ model, chance }) => chance.pick(["unknown", ...model.visitLinks.keys()].reverse()), [5]),
      ),
    }),
    play(model, { body: { token } }) {
      const link = model.visitLinks.get(token);
      if (!link) throw new Refusal(404, "link_invalid");
      const { visit } = link;
      model.requireNotSuspended(visit.organization);
      const participant = visit.participants.find(({ id }) => id === link.participant);
      if (!participant || visit.room.is_retired) throw new Refusal(404, "link_withdrawn");
      if (visit.status === "cancelled") throw unprocessable("visit_cancelled");
      if (visit.ends_at + DAY <= model.now) throw unprocessable("visit_over");
      const { role, display_name, user_id } = participant;
      const { id, status } = visit;
      return {
        organization_id: visit.organization.id,
        visit: { id, starts_at: timestamp(visit.starts_at), ends_at: timestamp(visit.ends_at), status },
        participant: { key: `visit-${id}-${participant.id}`, role, display_name, user_id },
        waiting_room_slug: visit.room.slug,
        destination_slug: destinationOf(model, visit.room),
      };
    },
  },
};

interface Counted {
  organization: Organization;
  room: Room;
  holder: Member | null;
  started_at: number;
}

/** Counts things on each date, by default on the last 30 days up to today. */
export function metricsOf<Thing extends Counted>(
  { members, rooms, now }: Model,
  { caller: { organization }, query }: Request,
  things: readonly Thing[],
) {
  const { date_start, date_end, user_id, waiting_room_id, days } = query;
  const dateOf = (time: number) => dateIn((days && organization.time_zone) ?? "UTC", time);
  const today = dateOf(now);
  const end = date_end ?? (date_start && date_start > today ? date_start : today);
  const start = date_start ?? new Date(Date.parse(end) - 29 * DAY).toISOString().slice(0, 10);
  if (start > end) throw new Refusal(400, "validation_failed");
  const isKnown = (id: number | undefined, things: { id: number; organization: unknown }[]) =>
    id === undefined || things.some((each) => each.id === id && each.organization === organization);
  if (!isKnown(user_id, members) || !isKnown(waiting_room_id, rooms)) throw notFound();
  const counted = ownedBy(organization, things)
    .filter(matches(query, ({ holder, room }) => ({ user_id: holder?.id, waiting_room_id: room.id })))
    .map((thing) => ({ thing, date: dateOf(thing.started_at) }))
    .filter(({ date }) => start <= date && date <= end);
  const dates = [...new Set(counted.map(({ date }) => date))].sort();
  return (value: (things: Thing[]) => number) =>
    Object.fromEntries(
      dates.map((date) => [date, value(counted.flatMap((each) => (each.date === date ? [each.thing] : [])))]),
    );
}
