import {
  and,
  asc,
  eq,
  exists,
  getTableColumns,
  gt,
  lte,
  ne,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { coalesce, hasValues, scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Value } from "../../database/queries.ts";
import { rowsWhere, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { MAX_SUBS, MAX_SUBS_FOLLOWED } from "../../limits.ts";
import { idempotencyOf } from "../../organization/idempotency_keys/idempotency_keys.sql.ts";
import * as rooms from "../waiting_rooms/waiting_rooms.sql.ts";
import { waitingRooms } from "../waiting_rooms/waiting_rooms.table.ts";
import { waitingRoomSubs } from "./waiting_room_subs.table.ts";

const { organization_id, user_id } = waitingRoomSubs;

export const waitingRoomSubColumns = {
  ...getTableColumns(waitingRoomSubs),
  sub_waiting_room_slug: scalar(rooms.personalRoomSlug(organization_id, user_id)).as("sub_waiting_room_slug"),
};

const isActive = (room_id: SQLWrapper, now: Value<number>) =>
  and(
    eq(waitingRoomSubs.waiting_room_id, room_id),
    gt(waitingRoomSubs.datetime_end, now),
    lte(waitingRoomSubs.datetime_start, now),
  );

/** The slugs of the rooms through which active subs lead from a room, beginning with the room itself: see `destinationOf`. */
export function wayFrom(room_id: SQLWrapper, now: Value<number>) {
  const start = builder
    .select({ id: waitingRooms.id, slug: waitingRooms.slug })
    .from(waitingRooms)
    .where(eq(waitingRooms.id, room_id));
  const next = builder
    .select({ id: rooms.personalRooms.id, slug: rooms.personalRooms.slug })
    .from(sql`way`)
    .innerJoin(waitingRoomSubs, isActive(sql`way.id`, now))
    .innerJoin(rooms.personalRooms, rooms.isActivePersonalRoomOf(organization_id, user_id));
  const way = sql`(with recursive way (id, slug) as (${start.getSQL()} union all ${next.getSQL()} limit ${sql.raw(String(MAX_SUBS_FOLLOWED + 2))})
    select json_group_array(slug) from way)`;
  return sql`${way}`.mapWith((slugs): string[] => JSON.parse(slugs)).as("way");
}

export const activeSub = preparedQuery(({ slug, now }: Placeholders<{ slug: string; now: number }>) =>
  builder
    .select({ ...waitingRoomSubColumns, way: wayFrom(waitingRoomSubs.waiting_room_id, now) })
    .from(waitingRoomSubs)
    .where(isActive(selectColumn(waitingRooms.id, rooms.hasSlug(slug)), now)),
);

export const subWrites = tableWrites(waitingRoomSubs, waitingRoomSubColumns);

export const subIdempotency = idempotencyOf(subWrites, { sub_waiting_room_slug: "stored" });

interface SubPath extends rooms.WaitingRoomPath {
  id: number;
}

const ownSub = ({ organization_id, slug, id }: Placeholders<SubPath>): SQL | undefined =>
  hasValues(waitingRoomSubs, { id, waiting_room_id: rooms.ownRoomId(organization_id, slug) });

export const subRow = rowsWhere(waitingRoomSubs, waitingRoomSubColumns, ownSub);

export const deleteSub = preparedQuery((path: Placeholders<SubPath>) =>
  builder.delete(waitingRoomSubs).where(ownSub(path)).returning({ id: waitingRoomSubs.id }),
);

const isOfRoomAfter = ({ organization_id, slug }: Placeholders<rooms.WaitingRoomPath>, time: Value<number>) =>
  and(
    eq(waitingRoomSubs.waiting_room_id, rooms.ownRoomId(organization_id, slug)),
    gt(waitingRoomSubs.datetime_end, time),
  );

export const subsFromNow = preparedQuery((path: Placeholders<rooms.WaitingRoomPath & { now: number }>) =>
  builder
    .select(waitingRoomSubColumns)
    .from(waitingRoomSubs)
    .where(isOfRoomAfter(path, path.now))
    .orderBy(asc(waitingRoomSubs.datetime_end)),
);

/**
 * Whether the room has reached its limit of subs that are not over yet. The column is a boolean, because a count would make all
 * creations conflict with each other.
 */
export const subQuota = preparedQuery((path: Placeholders<rooms.WaitingRoomPath & { now: number }>) => {
  const ahead = selectColumn(waitingRoomSubs.id, isOfRoomAfter(path, path.now))
    .orderBy(asc(waitingRoomSubs.datetime_end), asc(waitingRoomSubs.id))
    .limit(1)
    .offset(MAX_SUBS - 1);
  return builder.select({ is_full: exists(ahead).mapWith(Boolean).as("is_full") }).from(sql`(select 1)`);
});

export const roomOfSub = rowsWhere(
  waitingRooms,
  { id: waitingRooms.id, user_id: waitingRooms.user_id },
  ({ organization_id, slug }: Placeholders<rooms.WaitingRoomPath>) => rooms.ownRoom(organization_id, slug),
);

export const roomOfSubstitute = preparedQuery(
  ({ organization_id, user_id }: Placeholders<{ organization_id: number; user_id: number | null }>) =>
    rooms.personalRoomId(organization_id, user_id),
);

const stored = alias(waitingRoomSubs, "stored");

/**
 * The other sub of the room that ends first after `start`: the only one that a sub starting then can overlap, because the
 * existing subs of a room never overlap each other.
 *
 * @param start null for the sub's stored start
 * @param id 0 for a new sub
 */
export const nextSub = preparedQuery((path: Placeholders<SubPath & { start: number | null }>) => {
  const storedStart = selectColumn(stored.datetime_start, eq(stored.id, path.id));
  return selectColumn(
    waitingRoomSubs.datetime_start,
    isOfRoomAfter(path, coalesce(path.start, storedStart)),
    ne(waitingRoomSubs.id, path.id),
  )
    .orderBy(asc(waitingRoomSubs.datetime_end))
    .limit(1);
});
