import { and, eq, exists, isNotNull, isNull, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import type { ClientContext } from "../../context.ts";
import { builder, type Placeholders } from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { calls, participants, waitingRooms } from "../../database/schema.ts";
import { unprocessable } from "../../http/errors.ts";
import { ownRoom, ownRoomId, waitingRoomMissing } from "./waiting_rooms.sql.ts";

/** Retires an organization's room that nobody is in. The row stays, for auditing. */
export async function retireWaitingRoom(
  { db, now, caller: { organization_id } }: ClientContext,
  slug: string,
): Promise<void> {
  await retireRoom(db, { organization_id, slug, now });
}

const retireRoom = namedWrite(
  ({ organization_id, slug, now }: Placeholders<{ organization_id: number; slug: string; now: number }>) => ({
    rules: [
      waitingRoomMissing(organization_id, slug),
      {
        broken: exists(
          builder
            .select({ id: waitingRooms.id })
            .from(waitingRooms)
            .where(and(ownRoom(organization_id, slug), isNotNull(waitingRooms.user_id))),
        ),
        refusal: () => unprocessable("A personal room cannot be retired"),
      },
      {
        broken: exists(
          unionAll(
            builder
              .select({ id: participants.id })
              .from(participants)
              .where(
                and(
                  eq(participants.waiting_room_id, ownRoomId(organization_id, slug)),
                  isNull(participants.left_at),
                ),
              ),
            builder
              .select({ id: calls.id })
              .from(calls)
              .where(
                and(eq(calls.waiting_room_id, ownRoomId(organization_id, slug)), isNull(calls.ended_at)),
              ),
          ),
        ),
        refusal: () =>
          unprocessable("The waiting room is in use: a participant is present or a call is going on"),
      },
    ],
    statements: [
      builder
        .update(waitingRooms)
        .set({ retired_at: sql`${now}`, updated_at: sql`${now}` })
        .where(ownRoom(organization_id, slug))
        .returning({ id: waitingRooms.id }),
    ],
  }),
);
