import { and, eq, getTableColumns, isNull } from "drizzle-orm";
import { latestTime } from "../../calls/participants/participants.sql.ts";
import { participants } from "../../calls/participants/participants.table.ts";
import { greatest, hasValues } from "../../database/expressions.ts";
import {
  type BoundQuery,
  builder,
  type Placeholders,
  preparedQuery,
  type Value,
} from "../../database/queries.ts";
import { kebabCase } from "../../database/slug.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { type OfMember, writtenMemberId } from "../../organization/members/members.sql.ts";
import { waitingRoomSubs } from "../../rooms/waiting_room_subs/waiting_room_subs.table.ts";
import {
  FALLBACK_SLUG_NAME,
  newPersonalRoom,
  type RoomOwner,
  type WaitingRoomRow,
} from "../../rooms/waiting_rooms/waiting_rooms.merge.ts";
import { freeSlug } from "../../rooms/waiting_rooms/waiting_rooms.sql.ts";
import { waitingRooms } from "../../rooms/waiting_rooms/waiting_rooms.table.ts";

/** Also finds a retired room. */
export const personalRoomOf = (organization_id: Value<number>, user_id: Value<number>) =>
  builder
    .select(getTableColumns(waitingRooms))
    .from(waitingRooms)
    .where(hasValues(waitingRooms, { organization_id, user_id }));

const personalRoomWrites = tableWrites(
  waitingRooms,
  { id: waitingRooms.id },
  {
    user_id: (of) => writtenMemberId(of("user_id")),
    slug: (of) => freeSlug(of("organization_id"), of("slug")),
  },
);

/** A retired room is restored with its name, slug and theme. */
export async function providePersonalRoom(
  room: WaitingRoomRow | undefined,
  owner: RoomOwner,
  now: number,
): Promise<BoundQuery<unknown>[]> {
  if (!room)
    return [
      personalRoomWrites.insert(
        newPersonalRoom(owner, await kebabCase(owner.display_name, FALLBACK_SLUG_NAME), now),
      ),
    ];
  return room.retired_at === null
    ? []
    : [personalRoomWrites.update(room, { ...room, retired_at: null, updated_at: now })];
}

/** The waiting participants leave; an ongoing call continues. Nobody is sent to the room by a sub any more. */
export function retirePersonalRoom(room: WaitingRoomRow | undefined, now: number): BoundQuery<unknown>[] {
  if (!room?.user_id || room.retired_at !== null) return [];
  const { id, organization_id, user_id } = room;
  return [
    personalRoomWrites.update(room, { ...room, retired_at: now, updated_at: now }),
    leaveRoom({ waiting_room_id: id, now }),
    emptySubsOf({ organization_id, user_id, now }),
  ];
}

const leaveRoom = preparedQuery(
  ({ waiting_room_id, now }: Placeholders<{ waiting_room_id: number; now: number }>) =>
    builder
      .update(participants)
      // The reporter's clock can be ahead, and nobody may leave before they came.
      .set({ left_at: greatest(now, latestTime), updated_at: now })
      .where(
        and(
          eq(participants.waiting_room_id, waiting_room_id),
          isNull(participants.left_at),
          isNull(participants.call_id),
        ),
      ),
);

const emptySubsOf = preparedQuery(
  ({ organization_id, user_id, now }: Placeholders<OfMember & { now: number }>) =>
    builder
      .update(waitingRoomSubs)
      .set({ user_id: null, updated_at: now })
      .where(hasValues(waitingRoomSubs, { organization_id, user_id })),
);
