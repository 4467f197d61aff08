import * as z from "zod";
import { count, emptyOr, id, name, roomSlug, themeName, timestamp } from "../../http/wire.ts";
import { named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { waitingRoomSubSchema } from "../waiting_room_subs/waiting_room_subs.responses.ts";

export const waitingRoomSchema = named("WaitingRoom", "A room in which participants wait.", {
  id: id().meta({ description: "The id of the room.", example: story.CARDIOLOGY.id }),
  organization_id: id().nullable().meta({
    description: "The organization that owns the room; null for a personal room.",
    example: story.CLINIC.id,
  }),
  user_id: id().nullable().describe("The user who owns a personal room; null for an organization's room."),
  name: name().meta({
    description:
      "The name of the room, without leading or trailing spaces. Several rooms can have the same name: their slugs differ.",
    example: story.CARDIOLOGY.name,
  }),
  slug: roomSlug().meta({
    description:
      "The last part of the room's URL: the organization's slug, `--`, and the name in kebab case, in ASCII (`room` if nothing is left of it). If a room ever had that slug, a number follows: one more than the highest so far. The service generates the slug; you cannot set it. It changes whenever the name changes, and is never reused.",
    example: story.CARDIOLOGY.slug,
  }),
  theme: themeName().meta({
    description:
      "The theme of the room, for the web app; `default` unless you choose one. If the operator sets a list of themes, only those and `default` can be chosen.",
    example: "default",
  }),
  is_active: z.boolean().meta({
    description:
      "Whether participants can enter the room. Participants who are in the room when it becomes inactive stay.",
    example: true,
  }),
  created_at: timestamp().meta({ description: "When the room was created.", example: story.SET_UP_AT }),
  updated_at: timestamp().describe(
    "When the room was last updated. Participants who come and go do not change it.",
  ),
  waiting_count: count().meta({ description: "The number of participants waiting now.", example: 0 }),
  user: z
    .object({
      display_name: name().meta({
        description: "The name of the user for a personal room, or of the organization for other rooms.",
        example: story.CLINIC.name,
      }),
    })
    .describe("The owner of the room."),
});

export const resolvedWaitingRoomSchema = z.object({
  organization_id: id().describe(
    "The organization, even for a personal room: you need it in the path of reports of the room's calls.",
  ),
  waiting_room: waitingRoomSchema
    .extend({
      user: z
        .object({
          display_name: emptyOr(name()).meta({
            description:
              "The name of the user for a personal room. For other rooms, the name of the organization as the platform last set it, as in mails: it can be empty.",
            example: story.CLINIC.name,
          }),
        })
        .describe("The owner of the room."),
    })
    .describe("The room that the participant opens."),
  active_sub: waitingRoomSubSchema
    .nullable()
    .describe("The sub that is active now, filled or not; null if there is none."),
  destination_slug: roomSlug().describe("The slug of the room to send the participant to now."),
});
