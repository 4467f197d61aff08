import * as z from "zod";
import { PARTICIPANT_ROLES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { id, instant, key, name, roomSlug, timestampOrNull } from "../../http/wire.ts";
import type { participantSchema } from "./participants.responses.ts";
import type { participantColumns } from "./participants.sql.ts";

/** A report in part: what is left out stays as reported before. */
export const reportParticipantBody = z.object({
  participant: z
    .object({
      display_name: name,
      role: z.enum(PARTICIPANT_ROLES),
      user_id: id.nullable(),
      waiting_since: instant,
      left_at: instant.nullable(),
    })
    .partial()
    .refine(({ waiting_since, left_at }) => !(waiting_since && left_at && left_at < waiting_since), {
      path: ["left_at"],
      error: "must not be before waiting_since",
    }),
});

/** The same of somebody on a call, in the call's report. */
export const participantOnCall = z
  .object({
    display_name: name,
    role: z.enum(PARTICIPANT_ROLES),
    user_id: id.nullable(),
    waiting_since: instant.nullable(),
    joined_at: instant.nullable(),
    left_at: instant.nullable(),
    recording_consent: z.boolean().nullable(),
  })
  .partial()
  .extend({ key });

export const participantParams = z.object({ slug: roomSlug, key });

export type Participant = Row<typeof participantColumns>;

export function toParticipant(row: Participant): z.input<typeof participantSchema> {
  return {
    id: row.id,
    key: row.key,
    waiting_room_id: row.waiting_room_id,
    call_id: row.call_id,
    user_id: row.user_id,
    display_name: row.display_name,
    role: row.role,
    waiting_since: timestampOrNull(row.waiting_since),
    joined_at: timestampOrNull(row.joined_at),
    left_at: timestampOrNull(row.left_at),
  };
}
