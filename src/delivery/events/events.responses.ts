import * as z from "zod";
import { count, day, id, sha256, timestamp } from "../../http/wire.ts";
import { MAX_EVENT_POSITIONS_LENGTH, MAX_PER_PAGE } from "../../limits.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { EXAMPLE_IDS } from "./events.examples.ts";
import { EVENT_POSITIONS } from "./events.positions.ts";

/** The ids in events; each type has some of them. A sealed day has no id: its event has the date and digest instead. */
export const eventIds = z.object({
  organization_user_id: id().meta({
    description: "The id of the organization user: for a call and its results, the one who held the call.",
    example: EXAMPLE_IDS.organization_user_id,
  }),
  call_id: id().meta({ description: "The id of the call.", example: EXAMPLE_IDS.call_id }),
  egress_id: field(id(), "The `id` of the egress, not its `egress_id`.", EXAMPLE_IDS.egress_id),
  participant_id: field(id(), "The id of the participant.", EXAMPLE_IDS.participant_id),
  invite_id: id().meta({ description: "The id of the invite.", example: EXAMPLE_IDS.invite_id }),
  bulk_invite_id: field(id(), "The id of the bulk invite.", EXAMPLE_IDS.bulk_invite_id),
  api_client_id: id().meta({ description: "The id of the API client.", example: EXAMPLE_IDS.api_client_id }),
  waiting_room_id: id().meta({
    description: "The `id` of the waiting room. `GET /waiting_rooms?id=` returns its slug.",
    example: EXAMPLE_IDS.waiting_room_id,
  }),
  waiting_room_sub_id: id().meta({
    description: "The id of the sub. It may have been deleted.",
    example: EXAMPLE_IDS.waiting_room_sub_id,
  }),
  visit_id: id().meta({ description: "The id of the planned visit.", example: EXAMPLE_IDS.visit_id }),
  date: field(day(), "The UTC date of the sealed day of the access log.", EXAMPLE_IDS.date),
  seal_sha256: sha256().meta({
    description:
      "The SHA-256 of the `jws` of the seal, in hex. Keep it: it lets you verify the access log up to that day.",
    example: EXAMPLE_IDS.seal_sha256,
  }),
});

export const eventDataSchema = eventIds.partial().meta({
  id: "EventData",
  description:
    "The ids of the resources that an event is about. Each type of event always has the same ids, except that the ids of a call can be missing. If the event is about the organization itself, there are none.",
  example: { organization_user_id: story.PAULA.id, call_id: story.CALL.id },
});

/** Not an enum: types will be added, and clients must not fail on an unknown one. */
export const eventTypeName = () =>
  z
    .string()
    .max(100)
    .regex(/^[a-z_]+\.[a-z_]+$/);

export const eventSchema = named("Event", "Something that happened in the organization.", {
  id: field(id(), "The id of the event. A later event has a higher id. Ids have gaps.", story.EVENT_ID),
  type: field(eventTypeName(), "What happened: see the table of types.", "call.ended"),
  created_at: timestamp().meta({
    description:
      "When the service recorded the event. If something is reported late, it happened earlier: see, for example, the `ended_at` of the call.",
    example: story.ENDED_AT,
  }),
  data: eventDataSchema.describe("The ids of the resources that the event is about: see the table of types."),
});

export const eventsSchema = z.object({
  events: z.array(eventSchema).max(MAX_PER_PAGE).describe("The next events, oldest first."),
  next_after: count().describe(
    "The `after` for the next request: the id of the last event on this page. If the page is empty, the `after` of this request.",
  ),
});

export const platformEventSchema = z
  .object({
    id: eventSchema.shape.id,
    organization_id: field(id(), "The organization in which it happened.", story.CLINIC.id),
    type: eventSchema.shape.type,
    created_at: eventSchema.shape.created_at,
    data: eventSchema.shape.data,
  })
  .meta({ id: "OrganizationEvent", description: "Something that happened in one of the organizations." });

export const platformEventsSchema = z.object({
  events: z
    .array(platformEventSchema)
    .max(MAX_PER_PAGE)
    .describe("The next events. Those of an organization are in their order, oldest first."),
  next_after: z
    .string()
    .max(MAX_EVENT_POSITIONS_LENGTH)
    .regex(EVENT_POSITIONS)
    .describe(
      "The `after` for the next request: the position after the last event on this page. If the page is empty, the `after` of this request.",
    ),
});
