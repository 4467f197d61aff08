import { and, asc, eq, gt, isNotNull, lte, ne, notExists, type SQLWrapper, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { builder, namedQuery, type Placeholders, type Value } from "../../database/queries.ts";
import type { Rule } from "../../database/rules.ts";
import { waitingRoomSubs, waitingRooms } from "../../database/schema.ts";
import { unprocessable } from "../../http/errors.ts";
import {
  activePersonalRoomSlug,
  hasSlug,
  ownRoom,
  ownRoomId,
  personalRoomSlug,
} from "../waiting_rooms/waiting_rooms.sql.ts";

const { organization_id, user_id } = waitingRoomSubs;

export const waitingRoomSubColumns = {
  id: waitingRoomSubs.id,
  waiting_room_id: waitingRoomSubs.waiting_room_id,
  user_id,
  datetime_start: waitingRoomSubs.datetime_start,
  datetime_end: waitingRoomSubs.datetime_end,
  created_at: waitingRoomSubs.created_at,
  updated_at: waitingRoomSubs.updated_at,
  sub_waiting_room_slug: sql<string | null>`${personalRoomSlug(organization_id, user_id)}`.as(
    "sub_waiting_room_slug",
  ),
};

/** The slug of the substitute's room, if that is active; null where nobody fills the sub. */
const destinationSlug = sql<string | null>`${activePersonalRoomSlug(organization_id, user_id)}`;

/** The sub that is active now in the room that this slug leads to, and where it sends participants. */
export const activeSub = namedQuery(({ slug, now }: Placeholders<{ slug: string; now: number }>) =>
  builder
    .select({ ...waitingRoomSubColumns, destination_slug: destinationSlug.as("destination_slug") })
    .from(waitingRoomSubs)
    .where(
      and(
        eq(
          waitingRoomSubs.waiting_room_id,
          builder.select({ id: waitingRooms.id }).from(waitingRooms).where(hasSlug(slug)),
        ),
        gt(waitingRoomSubs.datetime_end, now),
        lte(waitingRoomSubs.datetime_start, now),
      ),
    ),
);

const otherSubs = alias(waitingRoomSubs, "other_subs");

/**
 * What holds for every sub.
 *
 * @param sub with the id 0 for a new one: one that exists does not overlap itself
 */
export function subRules(sub: {
  organization_id: Value<number>;
  slug: Value<string>;
  id: Value<number>;
  user_id: SQLWrapper;
  datetime_start: SQLWrapper;
  datetime_end: SQLWrapper;
}): Rule[] {
  const { organization_id, slug, id, user_id, datetime_start, datetime_end } = sub;
  const owner = builder
    .select({ user_id: waitingRooms.user_id })
    .from(waitingRooms)
    .where(ownRoom(organization_id, slug));
  // Only the first sub that ends after the start can overlap: those of a room never overlap each other.
  const nextStart = builder
    .select({ datetime_start: otherSubs.datetime_start })
    .from(otherSubs)
    .where(
      and(
        eq(otherSubs.waiting_room_id, ownRoomId(organization_id, slug)),
        gt(otherSubs.datetime_end, datetime_start),
        ne(otherSubs.id, id),
      ),
    )
    .orderBy(asc(otherSubs.datetime_end))
    .limit(1);
  return [
    {
      broken: lte(datetime_end, datetime_start),
      refusal: () => unprocessable("waiting_room_sub.datetime_end: must be after datetime_start"),
    },
    {
      broken: eq(user_id, owner),
      refusal: () => unprocessable("waiting_room_sub.user_id: must not be the owner of the room"),
    },
    {
      broken: sql`${isNotNull(user_id)} and ${notExists(personalRoomSlug(organization_id, user_id))}`,
      refusal: () =>
        unprocessable(
          "waiting_room_sub.user_id: must be a user of the organization who has a personal waiting room",
        ),
    },
    {
      broken: gt(datetime_end, nextStart),
      refusal: () => unprocessable("The times overlap another sub of the waiting room"),
    },
  ];
}
