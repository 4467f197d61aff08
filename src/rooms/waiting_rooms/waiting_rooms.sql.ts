import { and, asc, eq, getTableColumns, isNull, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { alias, unionAll } from "drizzle-orm/sqlite-core";
import { calls } from "../../calls/calls/calls.table.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import { coalesce, hasValues, scalar, withoutIndex } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Value } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { pagedList } from "../../http/lists.ts";
import type { OwnPath } from "../../http/wire.ts";
import { idempotencyOf } from "../../organization/idempotency_keys/idempotency_keys.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import {
  isSuspended,
  mailNameOfOrganization,
  nameOfOrganization,
} from "../../organization/organizations/organizations.sql.ts";
import { freeSlug, roomOfAnySlug } from "./waiting_rooms.slugs.ts";
import { waitingRooms } from "./waiting_rooms.table.ts";

const waitingCount = builder.$count(
  participants,
  and(
    eq(participants.waiting_room_id, waitingRooms.id),
    isNull(participants.left_at),
    isNull(participants.call_id),
  ),
);

const ownerName = selectColumn(
  organizationUsers.display_name,
  hasValues(organizationUsers, { organization_id: waitingRooms.organization_id, id: waitingRooms.user_id }),
);

const ownerNameOr = (organization_name: SQL<string>) =>
  coalesce(scalar(ownerName), organization_name).as("owner_display_name");

const { retired_at: _, name_key: __, ...ownColumns } = getTableColumns(waitingRooms);

export const waitingRoomColumns = {
  ...ownColumns,
  waiting_count: waitingCount.as("waiting_count"),
  owner_display_name: ownerNameOr(nameOfOrganization(waitingRooms.organization_id)),
};

/** True for the room whose current slug this is. Two organizations never have the same slug. */
export const hasSlug = (slug: Value<string>): SQL | undefined =>
  and(eq(waitingRooms.slug, slug), isNull(waitingRooms.retired_at));

export const ownRoom = (organization_id: Value<number>, slug: Value<string>): SQL | undefined =>
  and(eq(waitingRooms.organization_id, organization_id), hasSlug(slug));

export const ownRoomId = (organization_id: Value<number>, slug: Value<string>) =>
  selectColumn(waitingRooms.id, ownRoom(organization_id, slug));

export const personalRooms = alias(waitingRooms, "personal_rooms");

const isPersonalRoomOf = (organization_id: Value<number>, user_id: Value<number>): SQL | undefined =>
  and(hasValues(personalRooms, { organization_id, user_id }), isNull(personalRooms.retired_at));

export const personalRoomSlug = (organization_id: Value<number>, user_id: Value<number>) =>
  selectColumn(personalRooms.slug, isPersonalRoomOf(organization_id, user_id));

export const personalRoomId = (organization_id: Value<number>, user_id: Value<number>) =>
  selectColumn(personalRooms.id, isPersonalRoomOf(organization_id, user_id));

export const isActivePersonalRoomOf = (organization_id: Value<number>, user_id: Value<number>) =>
  and(isPersonalRoomOf(organization_id, user_id), eq(personalRooms.is_active, true));

export const waitingRoomWrites = tableWrites(waitingRooms, waitingRoomColumns, {
  slug: (of) => freeSlug(of("organization_id"), of("slug")),
});

export const waitingRoomIdempotency = idempotencyOf(waitingRoomWrites, {
  name: "stored",
  slug: "stored",
  theme: "stored",
  owner_display_name: "stored",
});

export interface WaitingRoomPath {
  organization_id: number;
  slug: string;
}

/** The room's own columns only, so that participants who come and go do not conflict with a write of the room. */
export const waitingRoomRow = preparedQuery((path: Placeholders<WaitingRoomPath>) =>
  builder
    .select(getTableColumns(waitingRooms))
    .from(waitingRooms)
    .where(ownRoom(path.organization_id, path.slug)),
);

function selectUse(room: SQLWrapper) {
  const is_used = sql`1`.as("is_used");
  const present = builder
    .select({ is_used })
    .from(participants)
    .where(and(eq(participants.waiting_room_id, room), isNull(participants.left_at)));
  const goingOn = builder
    .select({ is_used })
    .from(calls)
    .where(and(eq(calls.waiting_room_id, room), isNull(calls.ended_at)));
  return unionAll(present, goingOn).limit(1);
}

export const useOfRoom = preparedQuery(({ organization_id, slug }: Placeholders<WaitingRoomPath>) =>
  selectUse(ownRoomId(organization_id, slug)),
);

export const useOfPersonalRoom = preparedQuery(({ organization_id, id }: Placeholders<OwnPath>) =>
  selectUse(personalRoomId(organization_id, id)),
);

export const roomBySlug = preparedQuery((room: Placeholders<WaitingRoomPath>) =>
  builder.select(waitingRoomColumns).from(waitingRooms).where(ownRoom(room.organization_id, room.slug)),
);

/** For the platform, whose path has no organization. Participants see the room, so its organization has the name that mails show. */
export const roomToEnter = preparedQuery(({ slug }: Placeholders<{ slug: string }>) =>
  builder
    .select({
      ...waitingRoomColumns,
      owner_display_name: ownerNameOr(mailNameOfOrganization(waitingRooms.organization_id)),
      is_suspended: isSuspended(waitingRooms.organization_id),
    })
    .from(waitingRooms)
    .where(hasSlug(slug)),
);

interface ListedRooms {
  organization_id: number;
  /** null matches any value, here and below. */
  id: number | null;
  user_id: number | null;
  name_key: string | null;
  is_active: boolean | null;
}

type RoomFilter = Exclude<keyof ListedRooms, "organization_id">;

const ROOM_FILTERS: RoomFilter[] = ["id", "user_id", "name_key", "is_active"];

/** @param first the filter whose index SQLite uses */
const roomList = (first?: RoomFilter) =>
  pagedList(waitingRooms, waitingRoomColumns, [asc(waitingRooms.id)], (rooms: Placeholders<ListedRooms>) =>
    and(
      eq(waitingRooms.organization_id, rooms.organization_id),
      isNull(waitingRooms.retired_at),
      ...ROOM_FILTERS.map((filter) =>
        filter === first
          ? eq(waitingRooms[filter], rooms[filter])
          : or(isNull(rooms[filter]), eq(withoutIndex(waitingRooms[filter]), rooms[filter])),
      ),
    ),
  );

const roomLists = new Map([undefined, ...ROOM_FILTERS].map((first) => [first, roomList(first)]));

/** The list that reads the fewest rooms: it uses the first filter given, because the most selective ones come first. */
export const roomListFor = (rooms: ListedRooms) =>
  roomLists.get(ROOM_FILTERS.find((filter) => rooms[filter] !== null)) as ReturnType<typeof roomList>;

/**
 * Selects the room that a call's report names, by any slug that the room ever had. The room may have been retired since the
 * call, because reports can be delayed.
 */
export const selectRoomOfCall = (organization_id: Value<number>, slug: SQLWrapper) =>
  selectColumn(waitingRooms.id, hasValues(waitingRooms, { organization_id, id: roomOfAnySlug(slug) }));

/** The room that has or had the slug, for a report. `slug_is_current` is false for every slug of a retired room. */
export const reportedRoomOfAnySlug = preparedQuery(({ slug }: Placeholders<{ slug: string }>) =>
  builder
    .select({
      id: waitingRooms.id,
      organization_id: waitingRooms.organization_id,
      is_active: waitingRooms.is_active,
      slug_is_current: sql`${hasSlug(slug)}`.mapWith(Boolean).as("slug_is_current"),
    })
    .from(waitingRooms)
    .where(eq(waitingRooms.id, roomOfAnySlug(slug))),
);
