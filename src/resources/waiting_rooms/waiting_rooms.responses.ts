import * as z from "zod";
import { count, id, name, roomSlug, themeName, timestamp } from "../../http/wire.ts";
import * as story from "../../openapi/story.ts";
import { waitingRoomSubSchema } from "../waiting_room_subs/waiting_room_subs.responses.ts";

export const waitingRoomSchema = z
  .object({
    id: id().meta({ description: "The id of the room.", example: story.CARDIOLOGY.id }),
    organization_id: id().nullable().meta({
      description: "The organization that owns the room; null for a personal room.",
      example: story.CLINIC.id,
    }),
    user_id: id().nullable().meta({
      description: "The user who owns a personal room; null for an organization's room.",
      example: null,
    }),
    name: name().meta({
      description:
        "The name of the room, without spaces at its ends. Rooms can have the same name: their slugs differ.",
      example: story.CARDIOLOGY.name,
    }),
    slug: roomSlug().meta({
      description:
        "The last part of the room's URL: the organization's slug, `--`, and the name in kebab case, in ASCII (`room` if nothing is left of it). If that was ever given to a room, a number follows: one more than the highest that it ever had. The service makes it; it cannot be set. It changes whenever the name changes, and a slug is never given twice.",
      example: story.CARDIOLOGY.slug,
    }),
    theme: themeName().meta({
      description:
        "The theme of the room, for the web app; `default` if none was chosen. If the operator sets a list of themes, only those can be chosen.",
      example: "default",
    }),
    is_active: z.boolean().meta({
      description:
        "Whether participants can enter the room. Those who are in it when it becomes inactive stay.",
      example: true,
    }),
    created_at: timestamp().meta({ description: "When the room was created.", example: story.SET_UP_AT }),
    updated_at: timestamp().meta({
      description: "When the room was last updated. Participants who come and go do not count.",
      example: story.SET_UP_AT,
    }),
    waiting_count: count().meta({
      description: "The number of participants who are waiting now.",
      example: 0,
    }),
    user: z
      .object({
        display_name: name().meta({
          description:
            "The name of the user for a personal room, and the name of the organization for other rooms.",
          example: story.CLINIC.name,
        }),
      })
      .describe("The owner of the room."),
  })
  .meta({ id: "WaitingRoom", description: "A room in which participants wait." });

/** A room, and where its participants are to go now. */
export const resolvedWaitingRoomSchema = z.object({
  organization_id: id().describe(
    "The organization, also of a personal room: reports of its calls name it in their path.",
  ),
  waiting_room: waitingRoomSchema.describe("The room that the participant opens."),
  active_sub: waitingRoomSubSchema
    .nullable()
    .describe("The sub that is active now, filled or not; null if there is none."),
  destination_slug: roomSlug().describe("The slug of the room to which to send the participant now."),
});
