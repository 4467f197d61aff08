import { and, asc, eq, isNull, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Caller, ClientContext } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { insertFrom } from "../../database/insert.ts";
import { type Rule, writeUnderRules } from "../../database/rules.ts";
import { waitingRooms } from "../../database/schema.ts";
import { firstFreeSlug, kebabCase } from "../../database/slug.ts";
import { totalOf } from "../../database/totals.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { type Page, type PageQuery, pageWindow, selectTotal, toPage } from "../../http/pagination.ts";
import type { Settings } from "../../settings.ts";
import type { createWaitingRoomBody, updateWaitingRoomBody, WaitingRoom } from "./waiting_rooms.schemas.ts";

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

export async function listWaitingRooms(
  { db, caller }: ClientContext,
  page: PageQuery,
): Promise<Page<WaitingRoom>> {
  const listed = and(
    eq(waitingRooms.organization_id, caller.organization_id),
    isNull(waitingRooms.retired_at),
  );
  const { limit, offset } = pageWindow(page);
  const [[counted], rows] = await db.batch([
    selectTotal(db, totalOf("waiting_rooms", caller.organization_id)),
    db
      .select(shown)
      .from(waitingRooms)
      .where(listed)
      .orderBy(asc(waitingRooms.id))
      .limit(limit)
      .offset(offset),
  ]);
  return toPage(page, counted?.total ?? 0, rows);
}

export async function requireWaitingRoom({ db, caller }: ClientContext, slug: string): Promise<WaitingRoom> {
  const room = await db.select(shown).from(waitingRooms).where(ownRoom(caller, slug)).get();
  if (!room) throw notFound("Waiting room");
  return room;
}

export async function createWaitingRoom(
  { db, now, caller, settings }: ClientContext,
  { name, theme, is_active }: z.output<typeof createWaitingRoomBody>["waiting_room"],
): Promise<WaitingRoom> {
  if (theme !== undefined) requireTheme(settings, theme);
  const { organization_id } = caller;
  const [room] = await db
    .insert(waitingRooms)
    .values({
      organization_id,
      name,
      slug: roomSlug(organization_id, name),
      theme: theme ?? DEFAULT_THEME,
      is_active,
      created_at: now,
      updated_at: now,
    })
    .returning(shown);
  if (!room) throw new Error("The insert gave no row");
  return room;
}

/** A name that stays as it is keeps its slug; a new one has its slug made anew. */
export async function updateWaitingRoom(
  { db, now, caller, settings }: ClientContext,
  slug: string,
  { name, theme, is_active }: z.output<typeof updateWaitingRoomBody>["waiting_room"],
): Promise<WaitingRoom> {
  if (theme !== undefined) requireTheme(settings, theme);
  const renamed =
    name === undefined
      ? undefined
      : sql`case when name = ${name} then slug else ${roomSlug(caller.organization_id, name, slug)} end`;
  const [room] = await db
    .update(waitingRooms)
    .set({ name, slug: renamed, theme, is_active, updated_at: now })
    .where(ownRoom(caller, slug))
    .returning(shown);
  if (!room) throw notFound("Waiting room");
  return room;
}

/** Retires an organization's room that nobody is in. The row stays, for auditing. */
export async function retireWaitingRoom({ db, now, caller }: ClientContext, slug: string) {
  const room = sql`(select id from ${waitingRooms} where ${ownRoom(caller, slug)})`;
  await writeUnderRules(
    db,
    [
      waitingRoomMissing(caller, slug),
      {
        broken: sql`exists (select 1 from ${waitingRooms} where ${ownRoom(caller, slug)} and user_id is not null)`,
        error: unprocessable("A personal room cannot be retired"),
      },
      {
        broken: sql`exists (select 1 from participants where waiting_room_id = ${room} and left_at is null)
          or exists (select 1 from calls where waiting_room_id = ${room} and ended_at is null)`,
        error: unprocessable("The waiting room is in use: a participant is present or a call is going on"),
      },
    ],
    [
      db
        .update(waitingRooms)
        .set({ retired_at: now, updated_at: now })
        .where(ownRoom(caller, slug))
        .returning({ id: waitingRooms.id }),
    ],
  );
}

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

function requireTheme({ WAITING_ROOM_THEMES: themes }: Settings, theme: string) {
  if (themes && !themes.includes(theme))
    throw unprocessable(`waiting_room.theme: must be one of ${themes.join(", ")}`);
}
