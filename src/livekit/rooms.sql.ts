import { and, desc, eq, gte, lte, or, sql } from "drizzle-orm";
import { coalesce, scalar } from "../database/expressions.ts";
import type { Values } from "../database/queries.ts";
import { calls, organizations } from "../database/schema.ts";
import { selectColumn } from "../database/selects.ts";
import { LIVEKIT_ROOM_TOLERANCE, SILENCE_UNTIL_END } from "../lifetimes.ts";

/** A room of LiveKit, as values of a query. */
export interface Room {
  /** With which its name begins: every event names its organization. */
  organization_slug: string;
  /** Where LiveKit does not say it, it is empty: no call has an empty key. */
  room_sid: string;
  room_name: string;
  /** When the call of the room must have begun. */
  begun_by: number;
  /** The time of what is reported: the call had not ended before. */
  happened_at: number;
}

/** The call of a room began before the room, or what is recorded of it, or a little later: clocks differ. */
export const beginOfCall = (started_at: number): number => started_at + LIVEKIT_ROOM_TOLERANCE;

/** Selects the id of the organization of a room. */
export const organizationOfRoom = ({ organization_slug }: Pick<Values<Room>, "organization_slug">) =>
  scalar(selectColumn(organizations.id, eq(organizations.slug, organization_slug)));

/**
 * Selects the id of the call of a room: the organization's call whose key is the sid; else the one whose key is the name, if what
 * is reported happened during it. A name can be used again: it leads neither to a call that had ended before, nor to one that
 * began later, nor to one that was begun a day before and has no end: nobody has told of that.
 */
export const callIdOfRoom = (room: Values<Room>) =>
  selectColumn(
    calls.id,
    eq(calls.organization_id, organizationOfRoom(room)),
    // First both keys, and then which it is: with OR alone, SQLite reads all calls.
    sql`${calls.key} in (${room.room_sid}, ${room.room_name})`,
    or(
      eq(calls.key, room.room_sid),
      and(
        lte(calls.started_at, room.begun_by),
        gte(coalesce(calls.ended_at, sql`${calls.started_at} + ${SILENCE_UNTIL_END}`), room.happened_at),
      ),
    ),
  )
    .orderBy(desc(eq(calls.key, room.room_sid)))
    .limit(1);
