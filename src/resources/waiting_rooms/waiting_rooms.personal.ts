import { and, eq, isNotNull, isNull, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { insertSelect } from "../../database/insert.ts";
import { builder, type Statement, type Value } from "../../database/queries.ts";
import { organizationUsers, participants, waitingRoomSubs, waitingRooms } from "../../database/schema.ts";
import { includesRole } from "../roles/roles.sql.ts";
import { roomSlug } from "./waiting_rooms.slugs.ts";
import { DEFAULT_THEME } from "./waiting_rooms.sql.ts";

/**
 * The statement that gives a provider the personal room. It brings back the one that was retired when the person was no
 * provider, as it was: with its name, slug and theme.
 *
 * @param member the id of an organization user with any roles
 */
export function insertPersonalRoom(room: {
  organization_id: Value<number>;
  member: SQLWrapper;
  name: Value<string>;
  slug_name: Value<string>;
  now: Value<number>;
}): Statement {
  const { organization_id, member, name, slug_name, now } = room;
  const isProvider = includesRole(organizationUsers.roles, "provider");
  return insertSelect(
    waitingRooms,
    {
      organization_id: organizationUsers.organization_id,
      user_id: organizationUsers.user_id,
      name,
      slug: roomSlug(organization_id, slug_name, null),
      theme: DEFAULT_THEME,
      is_active: true,
      created_at: now,
      updated_at: now,
    },
    sql`from ${organizationUsers} where ${and(eq(organizationUsers.id, member), isProvider)}`,
  ).onConflictDoUpdate({
    target: [waitingRooms.organization_id, waitingRooms.user_id],
    targetWhere: isNotNull(waitingRooms.user_id),
    set: { retired_at: null, updated_at: sql`${now}` },
    setWhere: isNotNull(waitingRooms.retired_at),
  });
}

/**
 * The statements that take the personal room from its owner. Those who wait there have left. A call that is going on
 * there goes on. Nobody is sent to the room any more: the subs that the owner holds are empty.
 *
 * @param owner the user_id; null takes the room from nobody
 */
export function retirePersonalRoom(room: {
  organization_id: Value<number>;
  owner: SQLWrapper;
  now: Value<number>;
}): Statement[] {
  const { organization_id, owner, now } = room;
  const { left_at, waiting_since, joined_at } = participants;
  const updated_at = sql`${now}`;
  const isOwned: SQL | undefined = and(
    eq(waitingRooms.organization_id, organization_id),
    eq(waitingRooms.user_id, owner),
  );
  const personalRoom = builder.select({ id: waitingRooms.id }).from(waitingRooms).where(isOwned);
  return [
    builder
      .update(waitingRooms)
      .set({ retired_at: updated_at, updated_at })
      .where(and(isOwned, isNull(waitingRooms.retired_at))),
    builder
      .update(participants)
      // The reporter's clock can be ahead, and nobody leaves before they came.
      .set({
        left_at: sql`max(${now}, coalesce(${waiting_since}, 0), coalesce(${joined_at}, 0))`,
        updated_at,
      })
      .where(
        and(eq(participants.waiting_room_id, personalRoom), isNull(left_at), isNull(participants.call_id)),
      ),
    builder
      .update(waitingRoomSubs)
      .set({ user_id: null, updated_at })
      .where(and(eq(waitingRoomSubs.organization_id, organization_id), eq(waitingRoomSubs.user_id, owner))),
  ];
}
