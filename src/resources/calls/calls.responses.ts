import * as z from "zod";
import { id } from "../../http/wire.ts";

export const callSchema = z.object({
  id,
  organization_user_id: id,
  waiting_room_id: id,
  is_ended: z.boolean(),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
});

export const reportedCallSchema = callSchema.extend({ key: z.string() });
