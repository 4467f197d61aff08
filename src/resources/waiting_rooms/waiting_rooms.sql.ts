import {
  and,
  asc,
  eq,
  getTableColumns,
  gt,
  isNotNull,
  isNull,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { alias, unionAll } from "drizzle-orm/sqlite-core";
import { coalesce, hasValues, scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Value } from "../../database/queries.ts";
import { calls, organizationUsers, participants, waitingRooms } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { pagedList } from "../../http/lists.ts";
import type { OwnPath } from "../../http/wire.ts";
import { idempotencyOf } from "../idempotency_keys/idempotency_keys.sql.ts";
import { nameOfOrganization } from "../organizations/organizations.sql.ts";
import { freeSlug, roomOfAnySlug } from "./waiting_rooms.slugs.ts";

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

const { retired_at: _, ...ownColumns } = getTableColumns(waitingRooms);

export const waitingRoomColumns = {
  ...ownColumns,
  waiting_count: waitingCount.as("waiting_count"),
  owner_display_name: coalesce(scalar(ownerName), nameOfOrganization(waitingRooms.organization_id)).as(
    "owner_display_name",
  ),
};

/** True for the room that this slug leads to: slugs of two organizations are never the same. */
export const hasSlug = (slug: Value<string>): SQL | undefined =>
  and(eq(waitingRooms.slug, slug), isNull(waitingRooms.retired_at));

/** True for the organization's room that this slug leads to. */
export const ownRoom = (organization_id: Value<number>, slug: Value<string>): SQL | undefined =>
  and(eq(waitingRooms.organization_id, organization_id), hasSlug(slug));

/** Selects the id of the organization's room that this slug leads to. */
export const ownRoomId = (organization_id: Value<number>, slug: Value<string>) =>
  selectColumn(waitingRooms.id, ownRoom(organization_id, slug));

const personalRooms = alias(waitingRooms, "personal_rooms");

const isPersonalRoomOf = (organization_id: Value<number>, user_id: Value<number>): SQL | undefined =>
  and(hasValues(personalRooms, { organization_id, user_id }), isNull(personalRooms.retired_at));

/** Selects the current slug of somebody's personal room: nothing where there is none. */
export const personalRoomSlug = (organization_id: Value<number>, user_id: Value<number>) =>
  selectColumn(personalRooms.slug, isPersonalRoomOf(organization_id, user_id));

/** The same, but its id. */
export const personalRoomId = (organization_id: Value<number>, user_id: Value<number>) =>
  selectColumn(personalRooms.id, isPersonalRoomOf(organization_id, user_id));

/** The slug, but nothing where the room is not active. */
export const activePersonalRoomSlug = (organization_id: Value<number>, user_id: Value<number>) =>
  selectColumn(
    personalRooms.slug,
    isPersonalRoomOf(organization_id, user_id),
    eq(personalRooms.is_active, true),
  );

export const waitingRoomWrites = tableWrites(waitingRooms, waitingRoomColumns, {
  slug: (of) => freeSlug(of("organization_id"), of("slug")),
});

export const waitingRoomIdempotency = idempotencyOf(waitingRoomWrites);

/** Which room a path names, as values of a query. */
export interface WaitingRoomPath {
  organization_id: number;
  slug: string;
}

/** What a write of the room is decided on: its own columns only, so that participants who come and go do not matter. */
export const waitingRoomRow = preparedQuery((path: Placeholders<WaitingRoomPath>) =>
  builder
    .select(getTableColumns(waitingRooms))
    .from(waitingRooms)
    .where(ownRoom(path.organization_id, path.slug)),
);

/** Selects one row while a participant is present in a room, or a call is going on there. */
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

/** The same of the personal room of an organization user. */
export const useOfPersonalRoom = preparedQuery(({ organization_id, id }: Placeholders<OwnPath>) =>
  selectUse(personalRoomId(organization_id, id)),
);

export const roomBySlug = preparedQuery((room: Placeholders<WaitingRoomPath>) =>
  builder.select(waitingRoomColumns).from(waitingRooms).where(ownRoom(room.organization_id, room.slug)),
);

/** For the platform, whose path names a room by its slug alone. */
export const anyRoomBySlug = preparedQuery(({ slug }: Placeholders<{ slug: string }>) =>
  builder.select(waitingRoomColumns).from(waitingRooms).where(hasSlug(slug)),
);

/** Which rooms a list shows, as values of a query. */
interface ListedRooms {
  organization_id: number;
  /** null for all of the organization. */
  id: number | null;
}

/** A list of rooms that are not retired. */
const roomListWhere = (condition: (rooms: Placeholders<ListedRooms>) => SQL | undefined) =>
  pagedList(waitingRooms, waitingRoomColumns, [asc(waitingRooms.id)], (rooms: Placeholders<ListedRooms>) =>
    and(
      eq(waitingRooms.organization_id, rooms.organization_id),
      isNull(waitingRooms.retired_at),
      condition(rooms),
    ),
  );

export const allRooms = roomListWhere(() => undefined);

/** A list of its own, because SQLite finds the room by its id. */
export const roomOfId = roomListWhere(({ id }) => eq(waitingRooms.id, id));

/**
 * Selects what the report of a call must know of the room that it names. A personal room is retired even while a call is going
 * on there, so calls that began before can still be reported.
 */
export const selectRoomOfCall = (organization_id: Value<number>, slug: SQLWrapper, started_at: SQLWrapper) =>
  selectColumn(
    waitingRooms.id,
    hasValues(waitingRooms, { organization_id, id: roomOfAnySlug(slug), slug }),
    or(
      isNull(waitingRooms.retired_at),
      and(isNotNull(waitingRooms.user_id), gt(waitingRooms.retired_at, started_at)),
    ),
  );

/** What a report must know of the room that has or had the slug. A retired room has no current slug. */
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
