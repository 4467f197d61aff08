import { dateIn } from "../../support/time_zones.ts";
import {
  kind,
  list,
  NAME,
  nullable,
  object,
  oneOf,
  required,
  resource,
  text,
  time,
  usual,
} from "../kinds.ts";
import {
  type Caller,
  idOf,
  invalid,
  Learned,
  type Member,
  type Model,
  notFound,
  pageAfter,
  Refusal,
  type Request,
  type Room,
  timestamp,
  unprocessable,
  type Visit,
  withId,
} from "../model.ts";
import {
  AFTER,
  bodyId,
  DAY,
  isInOrder,
  type Operations,
  pickOwned,
  queryId,
  RANGE,
  referenceOf,
} from "../operation.ts";
import { membersOf, reachOf } from "./members.ts";
import { destinationOf } from "./rooms.ts";

const [HOUR, DAYS] = [3_600_000, 86_400_000];

export const REFERENCES = ["A-1", "B 2"];
export const PEOPLE = ["P-1", "P 2"];

export const REFERENCE = nullable({ ...text(255, REFERENCES), read: (value) => value });
export const PERSON_REFERENCE = nullable({ ...text(255, PEOPLE), read: (value) => value });
export const PARTICIPANT_ROLE = oneOf(["recipient", "recipient", "provider"]);
export const USER = nullable(bodyId((model) => model.members));

export const METRICS_QUERY = {
  date_start: DAY,
  date_end: DAY,
  user_id: queryId((model) => model.members),
  waiting_room_id: queryId((model) => model.rooms),
  days: kind(() => "local", ["utc", "Local"]),
};

const listed = (visit: Visit) => ({
  id: idOf(visit),
  waiting_room_id: idOf(visit.room),
  organization_user_id: visit.holder ? idOf(visit.holder) : null,
  external_reference: visit.external_reference,
  status: visit.status,
  starts_at: timestamp(visit.starts_at),
  ends_at: timestamp(visit.ends_at),
  call_ids: [],
  participants: visit.participants,
  created_at: timestamp(visit.created_at),
  updated_at: timestamp(visit.updated_at),
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

/** A room of the organization, or the personal room of a provider whom the caller reaches. */
export const reachedRoom = (model: Model, caller: Caller, slug: string | undefined): Room | undefined =>
  model.rooms.find(
    (room) =>
      room.organization === caller.organization &&
      !room.is_retired &&
      room.slug === slug?.toLowerCase() &&
      (!room.owner || reachOf(model, caller).includes(room.owner)),
  );

const visitsOf = (model: Model, caller: Caller) =>
  model.visits.filter(
    ({ organization, holder }) =>
      organization === caller.organization && (!holder || reachOf(model, caller).includes(holder)),
  );

const visitOf = (model: Model, { caller, path }: Request): Visit => withId(visitsOf(model, caller), path.id);

const PARTICIPANT = {
  role: PARTICIPANT_ROLE,
  display_name: NAME,
  user_id: usual(USER),
  external_reference: PERSON_REFERENCE,
};

export const ROOM_SLUG = kind(
  (choice) => {
    const rooms = choice.model.rooms.filter(({ is_retired }) => !is_retired);
    return pickOwned(choice, rooms)?.slug ?? "nowhere--room";
  },
  [5],
);

const VISIT = {
  waiting_room_slug: ROOM_SLUG,
  organization_user_id: USER,
  starts_at: time([60, 90, 120, 1440]),
  ends_at: time([1500, 150, 30, 3000]),
  external_reference: REFERENCE,
};

// biome-ignore lint/suspicious/noExplicitAny: a validated body
type Input = any;

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

function holderOf(
  model: Model,
  caller: Caller,
  room: Room,
  before: Member | null,
  said: number | null | undefined,
) {
  if (room.owner) {
    if (said && said !== room.owner.id) throw unprocessable("not_a_provider");
    return room.owner;
  }
  if (said === undefined) return before;
  if (said === null || said === before?.id) return said === null ? null : before;
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
  if (ends_at <= starts_at || ends_at - starts_at > DAYS) throw invalid();
  if (ends_at !== before?.ends_at && (ends_at <= model.now || ends_at > model.now + 730 * DAYS))
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

const aVisit: Operations[string]["path"] = (choice) => ({ id: pickOwned(choice, choice.model.visits)?.id });

export const VISITS: Operations = {
  "external GET /visits": {
    isRecorded: true,
    query: {
      ...RANGE,
      ...AFTER,
      status: oneOf(["planned", "cancelled", "started"], ["open"]),
      external_reference: referenceOf(REFERENCES),
      participant_reference: referenceOf(PEOPLE),
      organization_user_id: queryId((model) => model.members),
    },
    isSound: isInOrder,
    play(model, { caller, query }) {
      const { from, to, after, status, external_reference, participant_reference, organization_user_id } =
        query as Record<string, string | undefined>;
      const [time = Number.NEGATIVE_INFINITY, id = 0] = (after ?? "").split(".").filter(Boolean).map(Number);
      const visits = visitsOf(model, caller)
        .filter(
          (visit) =>
            (from === undefined || visit.starts_at >= Date.parse(from)) &&
            (to === undefined || visit.starts_at < Date.parse(to) + DAYS) &&
            (visit.starts_at > time || (visit.starts_at === time && visit.id > id)) &&
            (status === undefined || visit.status === status) &&
            (external_reference === undefined || visit.external_reference === external_reference) &&
            (participant_reference === undefined ||
              visit.participants.some((each) => each.external_reference === participant_reference)) &&
            (organization_user_id === undefined || visit.holder?.id === Number(organization_user_id)),
        )
        .sort((one, other) => one.starts_at - other.starts_at || one.id - other.id);
      return pageAfter({ name: "visits", model, query }, visits, ({ starts_at }) => starts_at, listed);
    },
  },
  "external POST /visits": {
    body: resource("visit", {
      ...VISIT,
      waiting_room_slug: required(VISIT.waiting_room_slug),
      starts_at: required(VISIT.starts_at),
      participants: required(
        list(
          object({ ...PARTICIPANT, role: required(PARTICIPANT_ROLE), display_name: required(NAME) }),
          1,
          20,
        ),
      ),
    }),
    play(model, { caller, body: { visit: input } }) {
      const { people, last } = namedIn(undefined, input.participants);
      const visit: Visit = {
        ...{
          id: 0,
          organization: caller.organization,
          status: "planned",
          ...planOf(model, caller, undefined, input),
        },
        ...{ participants: people, lastParticipant: last, created_at: model.now, updated_at: model.now },
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
      participants: list(
        object({ ...PARTICIPANT, id: kind(({ chance }) => chance.pick([1, 1, 2, 3]), [0, "1"]) }),
        1,
        20,
      ),
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
      const textOf = ({ room, holder, participants, external_reference, starts_at, ends_at }: typeof next) =>
        JSON.stringify([
          room.id,
          holder?.id,
          participants.map((each) => Object.entries(each).sort()),
          external_reference,
          starts_at,
          ends_at,
        ]);
      const isSame = textOf(next) === textOf(visit);
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
      const { dateOf, isCounted } = metricsOf(model, request);
      const visits = model.visits.filter((visit) => isCounted(visit, visit.holder, visit.starts_at));
      const dates = [...new Set(visits.map(({ starts_at }) => dateOf(starts_at)))].sort();
      const count = (status: string) =>
        Object.fromEntries(
          dates.map((date) => [
            date,
            visits.filter((visit) => visit.status === status && dateOf(visit.starts_at) === date).length,
          ]),
        );
      return {
        planned: count("planned"),
        held: count("held"),
        missed: count("missed"),
        cancelled: count("cancelled"),
      };
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
      if (visit.ends_at + DAYS <= model.now) throw unprocessable("visit_over");
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

/** The dates and the filter of metrics: by default, the last 30 days up to today. */
export function metricsOf({ members, rooms, now }: Model, { caller: { organization }, query }: Request) {
  const { date_start, date_end } = query as { date_start?: string; date_end?: string };
  const { user_id, waiting_room_id, days } = query as {
    user_id?: number;
    waiting_room_id?: number;
    days?: string;
  };
  const dateOf = (time: number) => dateIn((days && organization.time_zone) ?? "UTC", time);
  const today = dateOf(now);
  const end = date_end ?? (date_start && date_start > today ? date_start : today);
  const start = date_start ?? new Date(Date.parse(end) - 29 * DAYS).toISOString().slice(0, 10);
  if (start > end) throw new Refusal(400, "validation_failed");
  const isKnown = (id: number | undefined, things: { id: number; organization: unknown }[]) =>
    id === undefined || things.some((each) => each.id === id && each.organization === organization);
  if (!isKnown(user_id, members) || !isKnown(waiting_room_id, rooms)) throw notFound();
  const isCounted = (each: { organization: unknown; room: Room }, holder: Member | null, at: number) =>
    each.organization === organization &&
    (user_id === undefined || holder?.id === user_id) &&
    (waiting_room_id === undefined || each.room.id === waiting_room_id) &&
    start <= dateOf(at) &&
    dateOf(at) <= end;
  return { dateOf, isCounted };
}
