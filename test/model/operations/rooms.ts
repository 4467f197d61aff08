import { DAY, HOUR } from "../../../src/units.ts";
import {
  lowerCase,
  NAME,
  NAMES,
  NEVER,
  nullable,
  oneOf,
  required,
  resource,
  someOf,
  text,
  time,
  usual,
} from "../kinds.ts";
import {
  found,
  type Input,
  idOf,
  invalid,
  type Model,
  matches,
  newRow,
  type Organization,
  ownedBy,
  page,
  portion,
  type Request,
  type Room,
  requireUnchanged,
  type Sub,
  unprocessable,
  view,
  withId,
} from "../model.ts";
import { bodyId, type Operations, PAGE, type Path, pickOwned, queryId, TRUE_OR_FALSE } from "../operation.ts";

const shownRoom = (model: Model, room: Room) =>
  view(room, "name slug theme is_active created_at updated_at", {
    organization_id: room.owner ? null : room.organization.id,
    user_id: room.owner?.id ?? null,
    waiting_count: model.waitingIn(room).length,
    user: { display_name: room.owner?.display_name ?? room.organization.name },
  });

export function newRoom(
  model: Model,
  fields: Pick<Room, "organization" | "owner" | "name"> & Partial<Room>,
): Room {
  const slug = model.newSlug(fields.organization, fields.name);
  const room = { ...newRow(model), slug, theme: "default", is_active: false, is_retired: false, ...fields };
  model.rooms.push(room);
  model.slugs.set(room.slug, room);
  return room;
}

const roomsOf = (model: Model, organization: Organization) =>
  ownedBy(organization, model.rooms).filter(({ is_retired }) => !is_retired);

const roomOf = (model: Model, { caller, path }: Request): Room => {
  const slug = (path.slug ?? path.waiting_room_slug)?.toLowerCase();
  return found(roomsOf(model, caller.organization).find((room) => room.slug === slug));
};

const ROOM = {
  theme: text(50, ["default", "dark"]),
  is_active: usual(oneOf([true, true, false], ["true", 1])),
  slug: NEVER,
};

const shownSub = (model: Model, sub: Sub) =>
  view(sub, "datetime_start datetime_end created_at updated_at", {
    waiting_room_id: idOf(sub.room),
    user_id: sub.user?.id ?? null,
    sub_waiting_room_slug: (sub.user && model.personalRoomOf(sub.user)?.slug) ?? null,
  });

const subsOf = (model: Model, room: Room) => model.subs.filter((sub) => sub.room === room);

const isActiveAt = (now: number) => (sub: Sub) => sub.datetime_start <= now && now < sub.datetime_end;

const hoursAhead = (hours: readonly number[]) =>
  time(
    (now, chance) => Math.floor(now / HOUR + chance.pick(hours)) * HOUR,
    ["2126-01-31T09:30:00+01:00", "2126-01-31T09:30:00", "later", 5],
  );

const START = hoursAhead([0, -1, 1, 2, 3, 24]);
const END = hoursAhead([1, 2, 3, 4, 30, -2]);

const endsAfterItStarts = ({ datetime_start: start, datetime_end: end }: Input) =>
  start === undefined || typeof end !== "number" || end > start;

const SUBSTITUTE = bodyId(({ rooms, members }) => {
  const providers = rooms.flatMap(({ owner, is_retired }) => (owner && !is_retired ? [owner] : []));
  return [...providers, ...members.slice(0, 1)];
});

function requirePossible(model: Model, sub: Sub, user_id: number | null | undefined, before?: Sub): void {
  if (sub.datetime_end <= sub.datetime_start) throw invalid();
  if (typeof user_id === "number" && user_id !== before?.user?.id) {
    if (user_id === sub.room.owner?.id) throw unprocessable("owner_substitutes");
    if (!sub.user || !model.personalRoomOf(sub.user)) throw unprocessable("not_a_provider");
  }
  const overlaps = (other: Sub) =>
    other.id !== sub.id && other.datetime_start < sub.datetime_end && sub.datetime_start < other.datetime_end;
  if (subsOf(model, sub.room).some(overlaps)) throw unprocessable("sub_overlaps");
}

function subOf(model: Model, request: Request): Sub {
  return withId(subsOf(model, roomOf(model, request)), request.path.id);
}

const memberOf = (model: Model, { caller }: Request, id: number | null) =>
  ownedBy(caller.organization, model.members).find((member) => member.id === id) ?? null;

/** Mostly a sub of the room in the path. */
const pathOfSub: Path = (choice) => {
  const sub = pickOwned(choice, choice.model.subs);
  return { id: sub?.id, ...(choice.chance.is(0.9) && sub ? { waiting_room_slug: sub.room.slug } : {}) };
};

/** Where participants who open the room are sent. */
export function destinationOf(model: Model, room: Room): string {
  const way = [room];
  for (let last = room; way.length <= 12; ) {
    const user = subsOf(model, last).find(isActiveAt(model.now))?.user;
    const next = user && model.personalRoomOf(user);
    if (!next?.is_active) break;
    way.push(next);
    last = next;
  }
  return (new Set(way).size < way.length ? room : (way.at(-1) ?? room)).slug;
}

export const ROOMS: Operations = {
  "external GET /waiting_rooms": {
    query: {
      ...PAGE,
      id: queryId(({ rooms }) => rooms),
      user_id: queryId(({ members }) => members),
      name: someOf([...Object.keys(NAMES), "ROOM"], ["\u200b"], lowerCase),
      is_active: TRUE_OR_FALSE,
    },
    play(model, request) {
      const rooms = roomsOf(model, request.caller.organization).filter(
        matches(request.query, ({ id, owner, name, is_active }) => ({
          ...{ id, user_id: owner?.id, name: name.toLowerCase(), is_active },
        })),
      );
      return page("waiting_rooms", rooms, request, (room) => shownRoom(model, room));
    },
  },
  "external POST /waiting_rooms": {
    body: resource("waiting_room", { name: required(NAME), ...ROOM }),
    play(model, { caller: { organization }, body: { waiting_room } }) {
      const room = newRoom(model, { organization, owner: null, ...waiting_room });
      return shownRoom(model, room);
    },
  },
  "external GET /waiting_rooms/{slug}": {
    play: (model, request) => shownRoom(model, roomOf(model, request)),
  },
  "external PUT /waiting_rooms/{slug}": {
    body: resource("waiting_room", { name: NAME, ...ROOM }),
    play(model, request) {
      const room = roomOf(model, request);
      const { waiting_room } = request.body;
      const { organization_id, user_id, user } = shownRoom(model, room);
      requireUnchanged(request.sent.waiting_room, { organization_id, user_id, user });
      const isRenamed = waiting_room.name !== undefined && waiting_room.name !== room.name;
      Object.assign(room, waiting_room, { updated_at: model.now });
      if (isRenamed) {
        room.slug = model.newSlug(room.organization, room.name);
        model.slugs.set(room.slug, room);
      }
      return shownRoom(model, room);
    },
  },
  "external DELETE /waiting_rooms/{slug}": {
    play(model, request) {
      const room = roomOf(model, request);
      if (room.owner) throw unprocessable("personal_room");
      if (model.isInUse(room)) throw unprocessable("room_in_use");
      Object.assign(room, { is_retired: true, updated_at: model.now });
    },
  },
  "platform GET /waiting_rooms/{slug}": {
    play(model, { path }) {
      const room = found(
        model.rooms.find(({ slug, is_retired }) => slug === path.slug?.toLowerCase() && !is_retired),
      );
      model.requireNotSuspended(room.organization);
      const sub = subsOf(model, room).find(isActiveAt(model.now));
      const user = { display_name: room.owner?.display_name ?? room.organization.mail_name };
      return {
        organization_id: room.organization.id,
        waiting_room: { ...shownRoom(model, room), user },
        active_sub: sub ? shownSub(model, sub) : null,
        destination_slug: destinationOf(model, room),
      };
    },
  },
  "external GET /waiting_rooms/{waiting_room_slug}/waiting_room_subs": {
    query: PAGE,
    play(model, request) {
      const ahead = subsOf(model, roomOf(model, request))
        .filter(({ datetime_end }) => datetime_end > model.now)
        .sort((one, other) => one.datetime_end - other.datetime_end)
        .map((sub) => shownSub(model, sub));
      return { waiting_room_subs: portion(ahead, request) };
    },
  },
  "external POST /waiting_rooms/{waiting_room_slug}/waiting_room_subs": {
    path: ({ chance, model: { subs } }) => {
      const sub = chance.is(0.7) ? subs.at(-1) : undefined;
      return { waiting_room_slug: sub?.room.slug };
    },
    body: resource(
      "waiting_room_sub",
      { user_id: required(SUBSTITUTE), datetime_start: required(START), datetime_end: nullable(END) },
      endsAfterItStarts,
    ),
    play(model, request) {
      const room = roomOf(model, request);
      const { user_id, datetime_start, datetime_end } = request.body.waiting_room_sub;
      const sub: Sub = {
        ...{ ...newRow(model), organization: room.organization, room, datetime_start },
        user: memberOf(model, request, user_id),
        datetime_end: datetime_end ?? datetime_start + DAY,
      };
      requirePossible(model, sub, user_id);
      model.subs.push(sub);
      return shownSub(model, sub);
    },
  },
  "external PUT /waiting_rooms/{waiting_room_slug}/waiting_room_subs/{id}": {
    path: pathOfSub,
    body: resource(
      "waiting_room_sub",
      { user_id: nullable(SUBSTITUTE), datetime_start: START, datetime_end: END },
      endsAfterItStarts,
    ),
    play(model, request) {
      const sub = subOf(model, request);
      const { user_id, ...times } = request.body.waiting_room_sub;
      const { waiting_room_id, sub_waiting_room_slug } = shownSub(model, sub);
      requireUnchanged(request.sent.waiting_room_sub, { waiting_room_id, sub_waiting_room_slug });
      const datetime_start = times.datetime_start ?? sub.datetime_start;
      const next: Sub = {
        ...sub,
        user: user_id === undefined ? sub.user : memberOf(model, request, user_id),
        datetime_start,
        datetime_end: times.datetime_end ?? datetime_start + sub.datetime_end - sub.datetime_start,
        updated_at: model.now,
      };
      requirePossible(model, next, user_id, sub);
      Object.assign(sub, next);
      return shownSub(model, sub);
    },
  },
  "external DELETE /waiting_rooms/{waiting_room_slug}/waiting_room_subs/{id}": {
    path: pathOfSub,
    play(model, request) {
      const sub = subOf(model, request);
      model.subs.splice(model.subs.indexOf(sub), 1);
    },
  },
};
