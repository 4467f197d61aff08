import { sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../context.ts";
import { writeUnderRules } from "../db/rules.ts";
import { participants, waitingRooms } from "../db/schema.ts";
import { takeOverChanges } from "../db/upsert.ts";
import { notFound, unprocessable } from "../http/errors.ts";
import { roomOfSlug } from "../waiting_rooms/waiting_rooms.service.ts";
import type { Participant, reportParticipantBody } from "./participants.schemas.ts";

/**
 * Records what is known of somebody in a waiting room. The key is the reporter's own: a repeated report changes
 * nothing, a field left out stays.
 *
 * Whoever has left stays gone when a late report says otherwise; only `left_at: null` with a newer waiting_since
 * is a new entry. Somebody on a call stays in the room of the call.
 */
export async function reportParticipant(
  { db, now }: Context,
  slug: string,
  key: string,
  input: z.output<typeof reportParticipantBody>["participant"],
): Promise<Participant> {
  const kept = (field: keyof typeof input) =>
    input[field] === undefined ? sql`known.${sql.identifier(field)}` : sql`${input[field]}`;
  const returns = sql`${input.left_at === null} and known.call_id is null
    and ${input.waiting_since ?? null} > known.left_at`;
  const left_at =
    typeof input.left_at === "number"
      ? sql`${input.left_at}`
      : sql`case when ${returns} then null else known.left_at end`;

  // The room, what is known of the participant, and what the report makes of it, as one row.
  const report = sql`(
    select *, left_at is null and call_id is null
      and (known_room_id is null or known_left_at is not null or known_room_id <> room_id) as enters
    from (
      select room.id as room_id, room.organization_id, room.is_active,
        known.waiting_room_id as known_room_id, known.left_at as known_left_at, known.call_id,
        ${kept("display_name")} as display_name, ${kept("role")} as role, ${kept("user_id")} as user_id,
        ${kept("waiting_since")} as waiting_since, ${left_at} as left_at
      from ${waitingRooms} room
      left join participants known on known.organization_id = room.organization_id and known.key = ${key}
      where room.slug = ${slug} and room.retired_at is null))`;
  const reported = (condition: ReturnType<typeof sql>) =>
    sql`exists (select 1 from ${report} report where ${condition})`;

  return writeUnderRules(
    db,
    [
      {
        broken: sql`not exists (select 1 from ${waitingRooms} where ${roomOfSlug(slug)})`,
        error: notFound("Waiting room"),
      },
      {
        broken: reported(sql`display_name is null or role is null or waiting_since is null`),
        error: unprocessable(
          "participant: display_name, role and waiting_since are required in the first report",
        ),
      },
      {
        broken: reported(sql`left_at < waiting_since`),
        error: unprocessable("participant.left_at: must not be before waiting_since"),
      },
      {
        broken: reported(sql`user_id is not null and not exists (
          select 1 from organization_users member where member.organization_id = report.organization_id
            and member.user_id = report.user_id)`),
        error: unprocessable("participant.user_id: is not a user of the organization"),
      },
      {
        broken: reported(sql`enters and not is_active`),
        error: unprocessable("The waiting room is not active: nobody can enter it"),
      },
    ],
    [
      db
        .insert(participants)
        .select(
          // All columns of the table, in its order.
          sql`select null, organization_id, ${key},
            case when enters then room_id else coalesce(known_room_id, room_id) end,
            call_id, user_id, display_name, role, waiting_since, null, left_at, null, ${now}, ${now}
          from ${report} where true`,
        )
        .onConflictDoUpdate(
          takeOverChanges(
            participants,
            [participants.organization_id, participants.key],
            ["waiting_room_id", "display_name", "role", "user_id", "waiting_since", "left_at"],
          ),
        ),
      db
        .select()
        .from(participants)
        .where(
          sql`organization_id = (select organization_id from ${waitingRooms} where ${roomOfSlug(slug)})
            and key = ${key}`,
        ),
    ],
  );
}
