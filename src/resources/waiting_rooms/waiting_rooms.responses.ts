import * as z from "zod";
import { count, id, line, roomSlug, timestamp } from "../../openapi/shapes.ts";
import { themeName } from "../../settings.ts";
import { waitingRoomSubSchema } from "../waiting_room_subs/waiting_room_subs.responses.ts";

export const waitingRoomSchema = z
  .object({
    id: id().describe("The id of the room."),
    organization_id: id()
      .nullable()
      .describe("The organization that owns the room; null for a personal room."),
    user_id: id().nullable().describe("The user who owns a personal room; null for an organization's room."),
    name: line().describe("The name of the room."),
    slug: roomSlug().describe(
      "The last part of the room's URL: the organization's slug, `--`, and the name in kebab case, in ASCII (`room` if nothing is left of it), with `-2`, `-3` and so on if another room has or had that. The service makes it; it cannot be set. It changes when the name changes. No other room ever gets the old slug, but the room itself gets it back if it is renamed back.",
    ),
    theme: themeName.describe("The theme of the room; `default` if none was chosen."),
    is_active: z.boolean().describe("Whether participants can enter the room."),
    created_at: timestamp().describe("When the room was created."),
    updated_at: timestamp().describe(
      "When the room was last updated. Participants who come and go do not count.",
    ),
    waiting_count: count().describe("The number of participants who are waiting now."),
    user: z
      .object({
        display_name: line().describe(
          "The name of the user for a personal room, and the name of the organization for other rooms.",
        ),
      })
      .describe("The owner of the room."),
  })
  .meta({ id: "WaitingRoom", description: "A room in which participants wait." });

/** A room, and where its participants are to go now. */
export const resolvedWaitingRoomSchema = z.object({
  waiting_room: waitingRoomSchema.describe("The room that the participant opens."),
  active_sub: waitingRoomSubSchema
    .nullable()
    .describe("The sub that is active now, filled or not; null if there is none."),
  destination_slug: roomSlug().describe("The slug of the room to which to send the participant now."),
});
