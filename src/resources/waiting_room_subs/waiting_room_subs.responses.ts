import * as z from "zod";
import { id } from "../../http/wire.ts";

export const waitingRoomSubSchema = z.object({
  id,
  waiting_room_id: id,
  user_id: id.nullable(),
  sub_waiting_room_slug: z.string().nullable(),
  datetime_start: z.iso.datetime(),
  datetime_end: z.iso.datetime(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
