import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { id, instant, key, pathId, roomSlug, timestamp, timestampOrNull } from "../../http/wire.ts";
import { MAX_CALL_PARTICIPANTS } from "../../limits.ts";
import { participantOnCall } from "../participants/participants.schemas.ts";
import type { callSchema, reportedCallSchema } from "./calls.responses.ts";
import type { callColumns } from "./calls.sql.ts";

/** A report in part: what is left out stays as reported before. */
export const reportCallBody = z.object({
  call: z
    .object({
      waiting_room_slug: roomSlug,
      organization_user_id: id,
      started_at: instant,
      ended_at: instant.nullable(),
      failed: z.boolean().nullable(),
      legal_hold: z.boolean().nullable(),
      participants: z
        .array(participantOnCall)
        .max(MAX_CALL_PARTICIPANTS, `must name at most ${MAX_CALL_PARTICIPANTS} participants`)
        .refine(
          (participants) => new Set(participants.map((each) => each.key)).size === participants.length,
          "must name each participant once",
        ),
    })
    .partial(),
});

export const callKeyParams = z.object({ key });

export const organizationUserParams = z.object({ organization_user_id: pathId });

/** The path of everything that a call leaves behind. */
export const callParams = z.object({ organization_user_id: pathId, call_id: pathId });

export type CallPath = z.output<typeof callParams>;

export type Call = Row<typeof callColumns>;

export function toCall(row: Call): z.input<typeof callSchema> {
  return {
    id: row.id,
    organization_user_id: row.organization_user_id,
    waiting_room_id: row.waiting_room_id,
    is_ended: row.ended_at !== null,
    started_at: timestamp(row.started_at),
    ended_at: timestampOrNull(row.ended_at),
  };
}

export function toReportedCall(row: Call): z.input<typeof reportedCallSchema> {
  return { ...toCall(row), key: row.key, legal_hold: row.legal_hold };
}
