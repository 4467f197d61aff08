import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { unchangeable } from "../../http/unchangeable.ts";
import { id, instant, pathId, roomSlug, toTimestamp } from "../../http/wire.ts";
import { MAX_TIMESTAMP_LENGTH } from "../../limits.ts";
import { ENDS_TOO_EARLY, NOT_IN_UTC, SUB_STAYS } from "./waiting_room_subs.refusals.ts";
import type { waitingRoomSubSchema } from "./waiting_room_subs.responses.ts";
import type { waitingRoomSubColumns } from "./waiting_room_subs.sql.ts";

const IN_UTC = /([Zz]|\+00(:?00)?)$/;

const utcInstant = () =>
  z
    .string()
    .max(MAX_TIMESTAMP_LENGTH, { error: NOT_IN_UTC, abort: true })
    .regex(IN_UTC, { error: NOT_IN_UTC, abort: true })
    .pipe(instant())
    .meta({ override: { type: "string", format: "date-time", pattern: IN_UTC.source } });

interface Times {
  datetime_start?: number | undefined;
  datetime_end?: number | null | undefined;
}

/** Compares the times if the body has both. Otherwise, `requirePossible` compares with the stored time. */
const endsAfterItStarts = ({ datetime_start: start, datetime_end: end }: Times) =>
  typeof start !== "number" || typeof end !== "number" || end > start;

const endsTooEarly = { path: ["datetime_end"], error: ENDS_TOO_EARLY };

export const createWaitingRoomSubBody = () =>
  z.object({
    waiting_room_sub: z
      .object({ user_id: id(), datetime_start: utcInstant(), datetime_end: utcInstant().nullish() })
      .refine(endsAfterItStarts, endsTooEarly),
  });

export const updateWaitingRoomSubBody = () =>
  z
    .object({
      waiting_room_sub: z
        .object({
          user_id: id().nullish(),
          datetime_start: utcInstant().optional(),
          datetime_end: utcInstant().optional(),
        })
        .refine(endsAfterItStarts, endsTooEarly),
    })
    .register(unchangeable, SUB_STAYS);

export type CreateSub = z.output<ReturnType<typeof createWaitingRoomSubBody>>["waiting_room_sub"];

export type UpdateSub = z.output<ReturnType<typeof updateWaitingRoomSubBody>>["waiting_room_sub"];

export const waitingRoomParams = () => z.object({ waiting_room_slug: roomSlug() });

export const waitingRoomSubParams = () => z.object({ waiting_room_slug: roomSlug(), id: pathId() });

export type WaitingRoomSub = Row<typeof waitingRoomSubColumns>;

export const toWaitingRoomSub = (row: WaitingRoomSub): z.input<typeof waitingRoomSubSchema> => ({
  id: row.id,
  waiting_room_id: row.waiting_room_id,
  user_id: row.user_id,
  sub_waiting_room_slug: row.sub_waiting_room_slug,
  datetime_start: toTimestamp(row.datetime_start),
  datetime_end: toTimestamp(row.datetime_end),
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
});
