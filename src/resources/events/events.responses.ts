import * as z from "zod";
import { MAX_PER_PAGE } from "../../limits.ts";
import { count, id, timestamp } from "../../openapi/shapes.ts";

/** The ids that lead to what an event is about. Each type has some of them. */
export const eventDataSchema = z
  .object({
    organization_user_id: id().describe(
      "The id of the organization user: for a call and its results, the one who held the call.",
    ),
    call_id: id().describe("The id of the call."),
    egress_id: id().describe("The `id` of the egress, not its `egress_id`."),
    invite_id: id().describe("The id of the invite."),
    bulk_invite_id: id().describe("The id of the bulk invite."),
    waiting_room_id: id().describe("The `id` of the waiting room. The list of waiting rooms has its slug."),
    waiting_room_sub_id: id().describe("The id of the sub. It may have been deleted."),
  })
  .partial()
  .meta({
    id: "EventData",
    description:
      "The ids of what an event is about. Each type of event has some of them, and always the same.",
  });

/** There will be more types, so that a client must not fail for one that it does not know. */
export const eventTypeName = () =>
  z
    .string()
    .max(100)
    .regex(/^[a-z_]+\.[a-z_]+$/);

export const eventSchema = z
  .object({
    id: id().describe("The id of the event. A later event has a higher id. There are gaps between ids."),
    type: eventTypeName().describe("What happened: see the table of types."),
    created_at: timestamp().describe(
      "When the service recorded it. What is reported late happened before: see, for example, the `ended_at` of the call.",
    ),
    data: eventDataSchema.describe("The ids of what it is about: see the table of types."),
  })
  .meta({ id: "Event", description: "Something that happened in the organization." });

export const eventsSchema = z.object({
  events: z.array(eventSchema).max(MAX_PER_PAGE).describe("The next events, oldest first."),
  next_after: count().describe(
    "The `after` of the next request: the id of the last event here. If there is none, it is the `after` of this request.",
  ),
});
