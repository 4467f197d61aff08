import {
  and,
  asc,
  eq,
  exists,
  getTableColumns,
  isNull,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { alias, unionAll } from "drizzle-orm/sqlite-core";
import { calls } from "../../calls/calls/calls.table.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import { coalesce, hasValues, scalar } from "../../database/expressions.ts";
import {
  builder,
  type Placeholders,
  preparedQuery,
  type Value,
  type Values,
} from "../../database/queries.ts";
import { rowsWhere, selectColumn } from "../../database/selects.ts";
import { nextSlug } from "../../database/slug.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { filteredList } from "../../http/lists.ts";
import type { OwnPath } from "../../http/wire.ts";
import { idempotencyOf } from "../../organization/idempotency_keys/idempotency_keys.sql.ts";
import { type Reach, withinReach } from "../../organization/members/members.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import {
  isSuspended,
  mailNameOfOrganization,
  nameOfOrganization,
} from "../../organization/organizations/organizations.sql.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import type { WaitingRoomsQuery } from "./waiting_rooms.schemas.ts";
import { waitingRoomSlugs, waitingRooms } from "./waiting_rooms.table.ts";

/** Selects the id of the room that has or had the slug. */
const roomOfAnySlug = (slug: Value<string>) =>
  selectColumn(waitingRoomSlugs.waiting_room_id, eq(waitingRoomSlugs.slug, slug));

export const organizationOfAnySlug = (slug: Value<string>) =>
  selectColumn(waitingRoomSlugs.organization_id, eq(waitingRoomSlugs.slug, slug));

/**
 * A slug that no room ever had, for a room of this name: `{organization's slug}--{name}`, with a number if that is taken. A name
 * in kebab case never contains `--`, so rooms of two organizations never compete for a slug.
 */
export function freeSlug(organization_id: Value<number>, kebabName: Value<string>): SQL<string> {
  const organizationSlug = selectColumn(organizations.slug, eq(organizations.id, organization_id));
  return nextSlug(waitingRoomSlugs, sql`${organizationSlug} || '--' || ${kebabName}`);
}

const isWaiting = and(
  eq(participants.waiting_room_id, waitingRooms.id),
  isNull(participants.left_at),
  isNull(participants.call_id),
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
  waiting_count: builder.$count(participants, isWaiting).as("waiting_count"),
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
export const waitingRoomRow = rowsWhere(
  waitingRooms,
  getTableColumns(waitingRooms),
  (path: Placeholders<WaitingRoomPath>) => ownRoom(path.organization_id, path.slug),
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

export const roomBySlug = rowsWhere(waitingRooms, waitingRoomColumns, (room: Placeholders<WaitingRoomPath>) =>
  ownRoom(room.organization_id, room.slug),
);

/** For the platform, whose path has no organization. Participants see the room, so its organization has the name that mails show. */
export const roomToEnter = rowsWhere(
  waitingRooms,
  {
    ...waitingRoomColumns,
    owner_display_name: ownerNameOr(mailNameOfOrganization(waitingRooms.organization_id)),
    is_suspended: isSuspended(waitingRooms.organization_id),
  },
  ({ slug }: Placeholders<{ slug: string }>) => hasSlug(slug),
);

const { organization_id, retired_at } = waitingRooms;

export const readRooms = filteredList<
  WaitingRoomsQuery,
  typeof waitingRoomColumns,
  Pick<WaitingRoomPath, "organization_id">
>(
  waitingRooms,
  waitingRoomColumns,
  [asc(waitingRooms.id)],
  (of) => and(eq(organization_id, of.organization_id), isNull(retired_at)),
  {
    id: waitingRooms.id,
    user_id: waitingRooms.user_id,
    name: waitingRooms.name_key,
    is_active: waitingRooms.is_active,
  },
);

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

export interface ReachedRoom extends Reach {
  slug: string;
}

/** Selects the id of the room in the path. A personal room is found only if the caller reaches its owner. */
export const roomWithinReach = (room: Values<ReachedRoom>) => {
  const { id } = organizationUsers;
  const owner = selectColumn(id, eq(id, waitingRooms.user_id), withinReach(room));
  return selectColumn(
    waitingRooms.id,
    ownRoom(room.organization_id, room.slug),
    or(isNull(waitingRooms.user_id), exists(owner)),
  );
};

export const roomOfPath = rowsWhere(
  waitingRooms,
  { id: waitingRooms.id, user_id: waitingRooms.user_id },
  (room: Placeholders<ReachedRoom>) => eq(waitingRooms.id, roomWithinReach(room)),
);
