import { and, eq, getTableColumns, isNull } from "drizzle-orm";
import { greatest, hasValues } from "../../database/expressions.ts";
import {
  type BoundQuery,
  builder,
  type Placeholders,
  preparedQuery,
  type Value,
} from "../../database/queries.ts";
import { participants, waitingRoomSubs, waitingRooms } from "../../database/schema.ts";
import { kebabCase } from "../../database/slug.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { memberIdOf, type OfMember } from "../organization_users/organization_users.sql.ts";
import { latestTime, leaveAt } from "../participants/participants.sql.ts";
import {
  FALLBACK_SLUG_NAME,
  newPersonalRoom,
  type RoomOwner,
  type WaitingRoomRow,
} from "../waiting_rooms/waiting_rooms.merge.ts";
import { freeSlug } from "../waiting_rooms/waiting_rooms.slugs.ts";

/** Selects the personal room of a user of an organization, also one that is retired. */
export const personalRoomOf = (organization_id: Value<number>, user_id: Value<number>) =>
  builder
    .select(getTableColumns(waitingRooms))
    .from(waitingRooms)
    .where(hasValues(waitingRooms, { organization_id, user_id }));

/** The owner may be made in the same transaction, so a new room names the owner by email. */
const personalRoomWrites = tableWrites(
  waitingRooms,
  { id: waitingRooms.id },
  {
    user_id: (of) => memberIdOf(of("organization_id"), of("user_id")),
    slug: (of) => freeSlug(of("organization_id"), of("slug")),
  },
);

/**
 * The statements that give a provider the personal room. One that was retired comes back as it was: with its name, slug and
 * theme.
 */
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

/**
 * The statements that take the personal room from its owner. Those who wait there leave. A call that is going on
 * there goes on. Nobody is sent to the room any more: the subs that the owner fills become empty.
 */
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
      // The reporter's clock can be ahead, and nobody leaves before they came.
      .set({ ...leaveAt(greatest(now, latestTime)), updated_at: now })
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
