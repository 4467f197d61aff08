import * as z from "zod";
import { id } from "../../http/wire.ts";

/** The ids that lead to what an event is about. Each type has some of them. */
export const eventDataSchema = z.object({
  organization_user_id: id.optional(),
  call_id: id.optional(),
  egress_id: id.optional(),
  invite_id: id.optional(),
  bulk_invite_id: id.optional(),
  waiting_room_id: id.optional(),
  waiting_room_sub_id: id.optional(),
});

/** There will be more types, so that a client must not fail for one that it does not know. */
export const eventSchema = z.object({
  id,
  type: z.string(),
  created_at: z.iso.datetime(),
  data: eventDataSchema,
});

export const eventsSchema = z.object({ events: z.array(eventSchema), next_after: z.int().nonnegative() });
