import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../../context.ts";
import { insertFrom } from "../../database/legacy_insert.ts";
import { type Rule, type Statement, writeUnderRules } from "../../database/legacy_rules.ts";
import { conditionsOn, given, inputOf, kept } from "../../database/report.ts";
import { participants, waitingRooms } from "../../database/schema.ts";
import { takeOverChanges } from "../../database/upsert.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { namesNoMember } from "../organization_users/organization_users.service.ts";
import { roomOfSlug } from "../waiting_rooms/legacy.ts";
import type { Participant, reportParticipantBody } from "./participants.schemas.ts";

/**
 * Records what is known of somebody in a waiting room. The key is the reporter's own: a repeated report changes
 * nothing, a field left out stays.
 *
 * Whoever has left stays gone when a late report says otherwise; only a waiting_since after that is a new entry.
 * Somebody on a call stays in the room of the call.
 */
export async function reportParticipant(
  { db, now }: Context,
  slug: string,
  key: string,
  input: z.output<typeof reportParticipantBody>["participant"],
): Promise<Participant> {
  // A report of an earlier visit that comes late tells nothing of this one.
  const isLate = sql`${given(sql`input.report`, "waiting_since")} < known.waiting_since
    and (known.waiting_room_id <> room.id or ${given(sql`input.report`, "left_at")} < known.waiting_since)`;
  const json = sql`iif(${isLate}, '{}', input.report)`;
  // The room, what is known of the participant, and what the report makes of it, as one row.
  const report = sql`(
    select *, not is_late and left_at is null and call_id is null
      and (known_room_id is null or known_left_at is not null or known_room_id <> room_id) as enters
    from (
      select room.id as room_id, room.organization_id, room.is_active, coalesce(${isLate}, false) as is_late,
        known.joined_at, known.waiting_room_id as known_room_id, known.left_at as known_left_at, known.call_id,
        ${kept(json, "display_name")} as display_name, ${kept(json, "role")} as role,
        ${kept(json, "user_id")} as user_id, ${kept(json, "waiting_since")} as waiting_since,
        ${leftAt(json, sql`known.call_id is null and ${given(json, "waiting_since")} > known.left_at`)} as left_at
      from ${inputOf(input)}
      join waiting_rooms room on room.slug = ${slug} and room.retired_at is null
      left join participants known on known.organization_id = room.organization_id and known.key = ${key}))`;
  const reported = conditionsOn(report);

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
        broken: reported(sql`call_id is not null and left_at < waiting_since`),
        error: unprocessable(
          "The participant has left a call; whoever comes back comes with a key of its own",
        ),
      },
      {
        broken: reported(sql`left_at < waiting_since or left_at < joined_at`),
        error: unprocessable("participant.left_at: must not be before waiting_since or joined_at"),
      },
      {
        broken: reported(namesNoMember),
        error: unprocessable("participant.user_id: is not a user of the organization"),
      },
      {
        broken: reported(sql`enters and not is_active`),
        error: unprocessable("The waiting room is not active: nobody can enter it"),
      },
    ],
    [
      insertFrom(
        db,
        participants,
        sql`from ${report} where true`,
        ["organization_id", "call_id", "user_id", "display_name", "role", "waiting_since", "left_at"],
        {
          key,
          waiting_room_id: sql`case when enters then room_id else coalesce(known_room_id, room_id) end`,
          created_at: now,
          updated_at: now,
        },
      ).onConflictDoUpdate(
        takeOverChanges(participants, BY_KEY, [
          "waiting_room_id",
          "display_name",
          "role",
          "user_id",
          "waiting_since",
          "left_at",
        ]),
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

/** What a call's report tells of a participant. */
const ON_CALL = [
  "user_id",
  "display_name",
  "role",
  "waiting_since",
  "joined_at",
  "left_at",
  "recording_consent",
] as const;

const BY_KEY = [participants.organization_id, participants.key];

/**
 * The rules and statements by which a call's report takes in its participants: those of the waiting room by the
 * same key, or new ones.
 *
 * @param report SQL for the report merged with what is known of the call, as one row
 * @param callId SQL for the call's id, once it is written
 */
export function participantsOfCall(
  { db, now }: Pick<Context, "db" | "now">,
  report: SQL,
  callId: SQL<number>,
): { rules: Rule[]; statements: Statement[] } {
  const json = sql`entry.value`;
  const joinsAgain = sql`${given(json, "joined_at")} > known.left_at`;
  const entries = sql`(
    select call.organization_id, call.waiting_room_id, known.call_id as known_call_id,
      ${given(json, "key")} as key, ${kept(json, "user_id")} as user_id,
      ${kept(json, "display_name")} as display_name, ${kept(json, "role")} as role,
      ${kept(json, "waiting_since")} as waiting_since, ${kept(json, "joined_at")} as joined_at,
      ${leftAt(json, joinsAgain)} as left_at, ${kept(json, "recording_consent")} as recording_consent
    from ${report} call
    join json_each(coalesce(call.participants, '[]')) entry
    left join participants known
      on known.organization_id = call.organization_id and known.key = ${given(json, "key")})`;
  const reported = conditionsOn(entries);

  return {
    rules: [
      {
        broken: reported(sql`display_name is null or role is null`),
        error: unprocessable("call.participants: display_name and role are required for a new participant"),
      },
      {
        broken: reported(namesNoMember),
        error: unprocessable("call.participants: a user_id is not a user of the organization"),
      },
      {
        broken: reported(sql`known_call_id is not ${callId} and known_call_id is not null`),
        error: unprocessable("call.participants: a participant is on another call; give it a key of its own"),
      },
      {
        broken: reported(sql`left_at < joined_at or left_at < waiting_since`),
        error: unprocessable("call.participants: left_at must not be before joined_at or waiting_since"),
      },
    ],
    statements: [
      insertFrom(
        db,
        participants,
        sql`from ${entries} where true`,
        ["organization_id", "key", "waiting_room_id", ...ON_CALL],
        { call_id: callId, created_at: now, updated_at: now },
      ).onConflictDoUpdate(takeOverChanges(participants, BY_KEY, ["waiting_room_id", "call_id", ...ON_CALL])),
      db
        .update(participants)
        .set({
          left_at: sql`max((select ended_at from calls where id = participants.call_id),
            coalesce(joined_at, waiting_since, 0), coalesce(waiting_since, 0))`,
          updated_at: now,
        })
        .where(
          sql`call_id = ${callId} and left_at is null
            and exists (select 1 from calls where id = participants.call_id and ended_at is not null)`,
        ),
    ],
  };
}

/** Whoever has left stays gone, whatever a late report says, but for one who `comesBack`. */
function leftAt(report: SQL, comesBack: SQL): SQL {
  return sql`coalesce(${given(report, "left_at")}, case when ${comesBack} then null else known.left_at end)`;
}
