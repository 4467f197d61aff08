import * as z from "zod";
import { PARTICIPANT_ROLES } from "../../database/enums.ts";
import { id, key, line, timestamp } from "../../openapi/shapes.ts";

export const participantSchema = z
  .object({
    id: id().describe("The id of the participant."),
    key: key().describe("The reporter's own key for the participant, unique in the organization."),
    waiting_room_id: id().describe("The waiting room that the participant is in or was in last."),
    call_id: id().nullable().describe("The call that the participant is or was on; null before the call."),
    user_id: id().nullable().describe("The user who takes part; null for a person without an account."),
    display_name: line().min(1).describe("The name of the participant."),
    role: z
      .enum(PARTICIPANT_ROLES)
      .describe(
        "`recipient` for a patient, for example, and `provider` for the person who gives the consultation.",
      ),
    waiting_since: timestamp()
      .nullable()
      .describe("When the participant started to wait; null for one who joined the call without waiting."),
    joined_at: timestamp()
      .nullable()
      .describe("When the participant joined the call; null before that, or if no report said when."),
    left_at: timestamp().nullable().describe("When the participant left; null while present."),
  })
  .meta({ id: "Participant", description: "A person in a waiting room, and then on a call." });
