import { and, eq, or, sql } from "drizzle-orm";
import type * as z from "zod";
import type { ClientContext, Context } from "../../context.ts";
import { namedCreation } from "../../database/creations.ts";
import { builder, namedQuery, type Placeholders, runBatch, runFirst } from "../../database/queries.ts";
import { waitingRooms } from "../../database/schema.ts";
import { kebabCase } from "../../database/slug.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { type Page, type PageQuery, pageWindow, toPage } from "../../http/pagination.ts";
import type { Settings } from "../../settings.ts";
import { activeSub } from "../waiting_room_subs/waiting_room_subs.sql.ts";
import type {
  createWaitingRoomBody,
  ResolvedWaitingRoom,
  updateWaitingRoomBody,
  WaitingRoom,
} from "./waiting_rooms.schemas.ts";
import { roomSlug } from "./waiting_rooms.slugs.ts";
import {
  anyRoomBySlug,
  DEFAULT_THEME,
  ownRoom,
  pageOfRooms,
  roomBySlug,
  totalOfRooms,
  waitingRoomColumns,
} from "./waiting_rooms.sql.ts";

export async function listWaitingRooms(
  { db, caller: { organization_id } }: ClientContext,
  page: PageQuery,
): Promise<Page<WaitingRoom>> {
  const [[counted], rooms] = await runBatch(db, [
    totalOfRooms({ organization_id }),
    pageOfRooms({ organization_id, ...pageWindow(page) }),
  ]);
  return toPage(page, counted?.total ?? 0, rooms);
}

export async function requireWaitingRoom(
  { db, caller: { organization_id } }: ClientContext,
  slug: string,
): Promise<WaitingRoom> {
  const room = await runFirst(db, roomBySlug({ organization_id, slug }));
  if (!room) throw notFound("Waiting room");
  return room;
}

/**
 * A room of any organization, and where its participants are to go now: to the substitute's room while a filled sub is
 * active and that room is, else to the room itself. A sub of the substitute's own room sends nobody further.
 */
export async function resolveWaitingRoom({ db, now }: Context, slug: string): Promise<ResolvedWaitingRoom> {
  const [[room], [active_sub]] = await runBatch(db, [anyRoomBySlug({ slug }), activeSub({ slug, now })]);
  if (!room) throw notFound("Waiting room");
  return {
    room,
    active_sub: active_sub ?? null,
    destination_slug: active_sub?.destination_slug ?? room.slug,
  };
}

export async function createWaitingRoom(
  context: ClientContext,
  { name, theme, is_active }: z.output<typeof createWaitingRoomBody>["waiting_room"],
): Promise<WaitingRoom> {
  const { now, settings } = context;
  if (!isOffered(settings, theme)) throw themeRefusal(settings);
  return insertRoom(context, {
    organization_id: context.caller.organization_id,
    name,
    slug_name: kebabCase(name, "room"),
    theme: theme ?? DEFAULT_THEME,
    is_active,
    now,
  });
}

interface NewRoom {
  organization_id: number;
  name: string;
  slug_name: string;
  theme: string;
  is_active: boolean;
  now: number;
}

const insertRoom = namedCreation(
  { table: waitingRooms, columns: waitingRoomColumns },
  ({ organization_id, name, slug_name, theme, is_active, now }: Placeholders<NewRoom>) => ({
    rules: [],
    statements: [
      builder
        .insert(waitingRooms)
        .values({
          organization_id,
          name,
          slug: roomSlug(organization_id, slug_name, null),
          theme,
          is_active,
          created_at: now,
          updated_at: now,
        })
        .returning(waitingRoomColumns),
    ],
  }),
);

/**
 * A name that stays as it is keeps its slug. A new name gets a new slug. A room can keep a theme that is no longer
 * offered, so that a client can send back what it read.
 */
export async function updateWaitingRoom(
  context: ClientContext,
  slug: string,
  { name, theme, is_active }: z.output<typeof updateWaitingRoomBody>["waiting_room"],
): Promise<WaitingRoom> {
  const { db, now, settings } = context;
  const { organization_id } = context.caller;
  const is_offered = isOffered(settings, theme);
  const room = await runFirst(
    db,
    updateRoom({
      organization_id,
      slug,
      name: name ?? null,
      slug_name: name === undefined ? "" : kebabCase(name, "room"),
      theme: theme ?? null,
      is_offered,
      is_active: is_active ?? null,
      now,
    }),
  );
  if (room) return room;
  if (is_offered) throw notFound("Waiting room");
  await requireWaitingRoom(context, slug);
  throw themeRefusal(settings);
}

/** null leaves a field as it is. */
interface RoomChange {
  organization_id: number;
  slug: string;
  name: string | null;
  slug_name: string;
  theme: string | null;
  is_offered: boolean;
  is_active: boolean | null;
  now: number;
}

const updateRoom = namedQuery(
  ({ organization_id, slug, name, slug_name, theme, is_offered, is_active, now }: Placeholders<RoomChange>) =>
    builder
      .update(waitingRooms)
      .set({
        name: sql`coalesce(${name}, ${waitingRooms.name})`,
        slug: sql`case when coalesce(${name}, ${waitingRooms.name}) = ${waitingRooms.name} then ${waitingRooms.slug}
          else ${roomSlug(organization_id, slug_name, waitingRooms.id)} end`,
        theme: sql`coalesce(${theme}, ${waitingRooms.theme})`,
        is_active: sql`coalesce(${is_active}, ${waitingRooms.is_active})`,
        updated_at: sql`${now}`,
      })
      .where(and(ownRoom(organization_id, slug), or(sql`${is_offered}`, eq(waitingRooms.theme, theme))))
      .returning(waitingRoomColumns),
);

const isOffered = ({ WAITING_ROOM_THEMES: themes }: Settings, theme: string | undefined) =>
  theme === undefined || !themes || themes.includes(theme);

const themeRefusal = ({ WAITING_ROOM_THEMES: themes = [] }: Settings) =>
  unprocessable(`waiting_room.theme: must be one of ${themes.join(", ")}`);
