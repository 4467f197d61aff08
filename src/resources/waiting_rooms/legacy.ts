// TEMPORARY: for resources that are not yet converted.
import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { Caller } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { insertFrom } from "../../database/legacy_insert.ts";
import type { Rule } from "../../database/legacy_rules.ts";
import { firstFreeSlug, kebabCase } from "../../database/legacy_slug.ts";
import { waitingRooms } from "../../database/schema.ts";
import { notFound } from "../../http/errors.ts";

/** What a room has whose theme nobody chose, whether or not it is among those that may be chosen. */
const DEFAULT_THEME = "default";

/** Subqueries name the outer table in full: Drizzle writes columns of a single table without it. */
export const shown = {
  id: waitingRooms.id,
  organization_id: waitingRooms.organization_id,
  user_id: waitingRooms.user_id,
  name: waitingRooms.name,
  slug: waitingRooms.slug,
  theme: waitingRooms.theme,
  is_active: waitingRooms.is_active,
  created_at: waitingRooms.created_at,
  updated_at: waitingRooms.updated_at,
  waiting_count: sql<number>`(
    select count(*) from participants
    where participants.waiting_room_id = waiting_rooms.id
      and participants.left_at is null and participants.call_id is null)`.as("waiting_count"),
  owner_display_name: sql<string>`coalesce(
    (select display_name from organization_users
     where organization_users.organization_id = waiting_rooms.organization_id
       and organization_users.user_id = waiting_rooms.user_id),
    (select name from organizations where organizations.id = waiting_rooms.organization_id))`.as(
    "owner_display_name",
  ),
};

/** For verbs whose path names a room of the caller's organization. */
export const waitingRoomMissing = (caller: Caller, slug: string): Rule => ({
  broken: sql`not exists (select 1 from ${waitingRooms} where ${ownRoom(caller, slug)})`,
  error: notFound("Waiting room"),
});

/** SQL that is true for the caller's room of this slug. */
export function ownRoom(caller: Caller, slug: string): SQL | undefined {
  return and(eq(waitingRooms.organization_id, caller.organization_id), roomOfSlug(slug));
}

/** SQL that is true for the room of this slug, of whatever organization: a slug is unique in the service. */
export function roomOfSlug(slug: string): SQL | undefined {
  return and(eq(waitingRooms.slug, slug), isNull(waitingRooms.retired_at));
}

/** SQL for the current slug of somebody's personal room; null where there is none. */
export function personalRoomSlug(organization_id: SQL, user_id: SQL): SQL<string | null> {
  return sql`(
    select personal.slug from waiting_rooms personal
    where personal.organization_id = ${organization_id} and personal.user_id = ${user_id})`;
}

/**
 * The room that whoever is a provider, or above, has once: it comes and goes with the user, so no client makes or
 * retires it.
 *
 * @param member SQL for the id of an organization user of whatever role, with a room or without
 */
export function insertPersonalRoom(
  db: Database,
  now: number,
  { member, organization_id, name }: { member: SQL; organization_id: number; name: string },
) {
  const owner = sql`
    from organization_users owner
    where owner.id = ${member}
      and exists (select 1 from json_each(owner.roles) where value <> 'provider_assistant')
      and not exists ${personalRoomSlug(sql`owner.organization_id`, sql`owner.user_id`)}`;
  return insertFrom(db, waitingRooms, owner, ["organization_id", "user_id"], {
    name,
    slug: roomSlug(organization_id, name),
    theme: DEFAULT_THEME,
    is_active: true,
    created_at: now,
    updated_at: now,
  });
}

/** SQL for a free slug. `current` is the slug of the room that is renamed, which does not stand in its own way. */
function roomSlug(organization_id: number, name: string, current = ""): SQL<string> {
  return firstFreeSlug(
    sql`(select slug from organizations where id = ${organization_id}) || '-' || ${kebabCase(name, "room")}`,
    sql`candidate.slug <> ${current} and exists (
      select 1 from waiting_rooms taken where taken.slug = candidate.slug and taken.retired_at is null)`,
  );
}
