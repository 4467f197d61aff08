import * as z from "zod";
import { id } from "../../http/wire.ts";
import { waitingRoomSubSchema } from "../waiting_room_subs/waiting_room_subs.responses.ts";

export const waitingRoomSchema = z.object({
  id,
  organization_id: id.nullable(),
  user_id: id.nullable(),
  name: z.string(),
  slug: z.string(),
  theme: z.string(),
  is_active: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  waiting_count: z.int(),
  user: z.object({ display_name: z.string() }),
});

/** A room, and where its participants are to go now. */
export const resolvedWaitingRoomSchema = z.object({
  waiting_room: waitingRoomSchema,
  active_sub: waitingRoomSubSchema.nullable(),
  destination_slug: z.string(),
});
