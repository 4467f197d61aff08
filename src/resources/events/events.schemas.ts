import * as z from "zod";
import { EVENT_TYPES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { pageQuery } from "../../http/pagination.ts";
import { id, reference, timestamp } from "../../http/wire.ts";
import { MAX_INTEGER_LENGTH } from "../../limits.ts";
import type { eventColumns } from "./events.sql.ts";

export const eventType = z.enum(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(", ")}`);

export const eventsQuery = z.object({
  type: eventType.optional(),
  after: reference(MAX_INTEGER_LENGTH)
    .regex(/^\d+$/, "must be a non-negative integer")
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER))
    .default(0),
  per_page: pageQuery.shape.per_page,
});

export type EventsQuery = z.output<typeof eventsQuery>;

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

export type Event = Row<typeof eventColumns>;

export function toEvent(row: Event): z.input<typeof eventSchema> {
  return { id: row.id, type: row.type, created_at: timestamp(row.created_at), data: row.data };
}
