import { and, asc, eq, gt, lte, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Caller, ClientContext, Context } from "../../context.ts";
import { type Rule, writeUnderRules } from "../../database/legacy_rules.ts";
import { waitingRoomSubs, waitingRooms } from "../../database/schema.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { DEFAULT_SUB_DURATION } from "../../limits.ts";
import {
  ownRoom,
  personalRoomSlug,
  roomOfSlug,
  shown as shownRoom,
  waitingRoomMissing,
} from "../waiting_rooms/legacy.ts";
import type {
  createWaitingRoomSubBody,
  updateWaitingRoomSubBody,
  WaitingRoomSub,
} from "./waiting_room_subs.schemas.ts";

export const shown = {
  id: waitingRoomSubs.id,
  waiting_room_id: waitingRoomSubs.waiting_room_id,
  user_id: waitingRoomSubs.user_id,
  datetime_start: waitingRoomSubs.datetime_start,
  datetime_end: waitingRoomSubs.datetime_end,
  created_at: waitingRoomSubs.created_at,
  updated_at: waitingRoomSubs.updated_at,
  sub_waiting_room_slug: personalRoomSlug(
    sql`waiting_room_subs.organization_id`,
    sql`waiting_room_subs.user_id`,
  ).as("sub_waiting_room_slug"),
};

/** The subs of a room that are not over yet, soonest first. */
export async function listWaitingRoomSubs(
  { db, now, caller }: ClientContext,
  slug: string,
): Promise<WaitingRoomSub[]> {
  const [rooms, subs] = await db.batch([
    db.select({ id: waitingRooms.id }).from(waitingRooms).where(ownRoom(caller, slug)),
    db
      .select(shown)
      .from(waitingRoomSubs)
      .where(
        and(eq(waitingRoomSubs.waiting_room_id, roomId(caller, slug)), gt(waitingRoomSubs.datetime_end, now)),
      )
      .orderBy(asc(waitingRoomSubs.datetime_end)),
  ]);
  if (rooms.length === 0) throw notFound("Waiting room");
  return subs;
}

export async function createWaitingRoomSub(
  { db, now, caller }: ClientContext,
  slug: string,
  { user_id, datetime_start, datetime_end }: z.output<typeof createWaitingRoomSubBody>["waiting_room_sub"],
): Promise<WaitingRoomSub> {
  const end = datetime_end ?? datetime_start + DEFAULT_SUB_DURATION;
  return writeUnderRules(
    db,
    [
      waitingRoomMissing(caller, slug),
      ...subRules(caller, slug, {
        user_id: sql`${user_id}`,
        start: sql`${datetime_start}`,
        end: sql`${end}`,
      }),
    ],
    [
      db
        .insert(waitingRoomSubs)
        .values({
          organization_id: caller.organization_id,
          waiting_room_id: roomId(caller, slug),
          user_id,
          datetime_start,
          datetime_end: end,
          created_at: now,
          updated_at: now,
        })
        .returning(shown),
    ],
  );
}

/** A field left out stays; a null user_id empties the sub. */
export async function updateWaitingRoomSub(
  { db, now, caller }: ClientContext,
  slug: string,
  id: number,
  { user_id, datetime_start, datetime_end }: z.output<typeof updateWaitingRoomSubBody>["waiting_room_sub"],
): Promise<WaitingRoomSub> {
  const sub = ownSub(caller, slug, id);
  const stored = (column: string) =>
    sql`(select ${sql.identifier(column)} from ${waitingRoomSubs} where ${sub})`;
  return writeUnderRules(
    db,
    [
      waitingRoomMissing(caller, slug),
      {
        broken: sql`not exists (select 1 from ${waitingRoomSubs} where ${sub})`,
        error: notFound("Waiting room sub"),
      },
      ...subRules(caller, slug, {
        id,
        user_id: user_id === undefined ? stored("user_id") : sql`${user_id}`,
        start: datetime_start === undefined ? stored("datetime_start") : sql`${datetime_start}`,
        end: datetime_end === undefined ? stored("datetime_end") : sql`${datetime_end}`,
      }),
    ],
    [
      db
        .update(waitingRoomSubs)
        .set({ user_id, datetime_start, datetime_end, updated_at: now })
        .where(sub)
        .returning(shown),
    ],
  );
}

export async function deleteWaitingRoomSub({ db, caller }: ClientContext, slug: string, id: number) {
  const deleted = await db
    .delete(waitingRoomSubs)
    .where(ownSub(caller, slug, id))
    .returning({ id: waitingRoomSubs.id });
  if (deleted.length === 0) throw notFound("Waiting room sub");
}

/**
 * A room as whoever opens it finds it: `destination_slug` is where to go now, the substitute's room while a filled
 * sub is active and that room is, else the room itself. A sub of the substitute's own room sends nobody further.
 */
export async function openWaitingRoom({ db, now }: Context, slug: string) {
  const [[room], [active_sub]] = await db.batch([
    db.select(shownRoom).from(waitingRooms).where(roomOfSlug(slug)),
    db
      .select({
        ...shown,
        substitute_is_active: sql<number | null>`(
          select is_active from waiting_rooms personal
          where personal.organization_id = waiting_room_subs.organization_id
            and personal.user_id = waiting_room_subs.user_id)`.as("substitute_is_active"),
      })
      .from(waitingRoomSubs)
      .where(
        and(
          sql`${waitingRoomSubs.waiting_room_id} = (select id from ${waitingRooms} where ${roomOfSlug(slug)})`,
          gt(waitingRoomSubs.datetime_end, now),
          lte(waitingRoomSubs.datetime_start, now),
        ),
      ),
  ]);
  if (!room) throw notFound("Waiting room");
  const substitute = active_sub?.substitute_is_active ? active_sub.sub_waiting_room_slug : null;
  return { room, active_sub: active_sub ?? null, destination_slug: substitute ?? room.slug };
}

/** What holds for every sub; `id` is given for one that exists, which does not overlap itself. */
function subRules(
  caller: Caller,
  slug: string,
  { id = 0, user_id, start, end }: { id?: number; user_id: SQL; start: SQL; end: SQL },
): Rule[] {
  return [
    {
      broken: sql`${end} <= ${start}`,
      error: unprocessable("waiting_room_sub.datetime_end: must be after datetime_start"),
    },
    {
      broken: sql`${user_id} = (select user_id from ${waitingRooms} where ${ownRoom(caller, slug)})`,
      error: unprocessable("waiting_room_sub.user_id: is the owner of the room"),
    },
    {
      broken: sql`${user_id} is not null and not exists ${personalRoomSlug(sql`${caller.organization_id}`, user_id)}`,
      error: unprocessable(
        "waiting_room_sub.user_id: must be a user of the organization who has a personal waiting room",
      ),
    },
    {
      // Only the first sub that ends after the start can overlap: those of a room never overlap each other.
      broken: sql`${end} > (
        select datetime_start from waiting_room_subs other
        where other.waiting_room_id = ${roomId(caller, slug)} and other.datetime_end > ${start} and other.id <> ${id}
        order by other.datetime_end limit 1)`,
      error: unprocessable("The times overlap another sub of the waiting room"),
    },
  ];
}

function ownSub(caller: Caller, slug: string, id: number): SQL | undefined {
  return and(eq(waitingRoomSubs.id, id), eq(waitingRoomSubs.waiting_room_id, roomId(caller, slug)));
}

function roomId(caller: Caller, slug: string): SQL<number> {
  return sql`(select ${waitingRooms.id} from ${waitingRooms} where ${ownRoom(caller, slug)})`;
}
