import * as z from "zod";
import { id, roomSlug, timestamp } from "../../http/wire.ts";
import { field } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";

export const waitingRoomSubSchema = z
  .object({
    id: id().meta({ description: "The id of the sub.", example: story.SUB_ID }),
    waiting_room_id: id().meta({
      description: "The `id` of the waiting room that the sub belongs to.",
      example: story.CARDIOLOGY.id,
    }),
    user_id: id().nullable().meta({
      description:
        "The user who substitutes: a `user_id` from `GET /organization_users`. The user must have the role `provider`, and therefore a personal room, and must not be the owner of the room. null while the sub is not filled: after an update that removes the substitute, or when the substitute loses the personal room.",
      example: story.SAM.user_id,
    }),
    sub_waiting_room_slug: roomSlug().nullable().meta({
      description: "The current slug of the substitute's personal room; null while the sub is not filled.",
      example: story.SAMS_ROOM.slug,
    }),
    datetime_start: timestamp().meta({
      description: "The sub is active from this time on. It may be in the past.",
      example: story.SUB_STARTS_AT,
    }),
    datetime_end: field(timestamp(), "The sub is no longer active at this time.", story.SUB_ENDS_AT),
    created_at: timestamp().meta({ description: "When the sub was created.", example: story.PLANNED_AT }),
    updated_at: timestamp().meta({
      description: "When the sub was last updated. A new slug of the substitute's room does not change it.",
      example: story.PLANNED_AT,
    }),
  })
  .meta({ id: "WaitingRoomSub", description: "A substitution in a waiting room for a limited time." });
