import * as z from "zod";
import { PARTICIPANT_ROLES } from "../../database/enums.ts";
import { id } from "../../http/wire.ts";

export const participantSchema = z.object({
  id,
  key: z.string(),
  waiting_room_id: id,
  call_id: id.nullable(),
  user_id: id.nullable(),
  display_name: z.string(),
  role: z.enum(PARTICIPANT_ROLES),
  waiting_since: z.iso.datetime().nullable(),
  joined_at: z.iso.datetime().nullable(),
  left_at: z.iso.datetime().nullable(),
});
