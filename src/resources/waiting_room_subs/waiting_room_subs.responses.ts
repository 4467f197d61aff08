import * as z from "zod";
import { id, roomSlug, timestamp } from "../../openapi/shapes.ts";

export const waitingRoomSubSchema = z
  .object({
    id: id().describe("The id of the sub."),
    waiting_room_id: id().describe("The `id` of the waiting room that the sub belongs to."),
    user_id: id()
      .nullable()
      .describe(
        "The user who substitutes; null while the sub is not filled. A sub becomes unfilled when an update says so, or when the user loses the personal room.",
      ),
    sub_waiting_room_slug: roomSlug()
      .nullable()
      .describe("The current slug of the substitute's personal room; null while the sub is not filled."),
    datetime_start: timestamp().describe("The sub is active from this time on."),
    datetime_end: timestamp().describe("The sub is no longer active at this time."),
    created_at: timestamp().describe("When the sub was created."),
    updated_at: timestamp().describe(
      "When the sub was last updated. A new slug of the substitute's room does not count.",
    ),
  })
  .meta({ id: "WaitingRoomSub", description: "A substitution in a waiting room for a limited time." });
