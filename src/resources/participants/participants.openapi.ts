import type * as z from "zod";
import { busy, type Reference } from "../../openapi/operation.ts";
import { participantSchema } from "./participants.responses.ts";

const participant: z.input<typeof participantSchema> = {
  id: 301,
  key: "participant-8c1f",
  waiting_room_id: 7,
  call_id: null,
  user_id: null,
  display_name: "Rita Recipient",
  role: "recipient",
  waiting_since: "2026-01-31T09:25:00.000Z",
  joined_at: null,
  left_at: null,
};

export const participantsReference: Reference = {
  tag: "Participants",
  description:
    "People in a waiting room and then on a call, as the web app and the video backend report them.",
  schemas: {
    Participant: {
      schema: participantSchema,
      description: "A person in a waiting room, and then on a call.",
      fields: {
        id: "The id of the participant.",
        key: "The reporter's own key for the participant, unique in the organization.",
        waiting_room_id: "The waiting room that the participant is in or was in last.",
        call_id: "The call that the participant is or was on; null before the call.",
        user_id: "The user who takes part; null for a person without an account.",
        display_name: "The name of the participant.",
        role: "`recipient` for a patient, for example, and `provider` for the person who gives the consultation.",
        waiting_since: "When the participant started to wait; null if the participant did not wait.",
        joined_at: "When the participant joined the call; null until then.",
        left_at: "When the participant left; null until then.",
      },
    },
  },
  platform: {
    "PUT /waiting_rooms/:slug/participants/:key": {
      operationId: "reportParticipant",
      summary: "Report a participant of a waiting room",
      description:
        "The first report needs `display_name`, `role` and `waiting_since`. A participant who has left can come back: report a later `waiting_since`. A report with an earlier `waiting_since` corrects the visit, except that a late report of a visit before it changes nothing. After a call, a new visit needs a new key. A participant on a call stays in the room of the call. A participant cannot enter an inactive room, but can always leave, even if the room was renamed or retired meanwhile: a known participant is found by every slug that the room ever had. To enter, use the current slug.",
      status: 200,
      request: {
        fields: {},
        example: {
          participant: {
            display_name: "Rita Recipient",
            role: "recipient",
            waiting_since: "2026-01-31T09:25:00Z",
          },
        },
      },
      response: { schema: participantSchema, example: participant },
      refusals: {
        404: "No room ever had this slug. Or the room was renamed or retired, and the participant is new or would enter it.",
        422: "The room is not active and the participant would enter it, a first report lacks a field, `left_at` is before `waiting_since` or before the participant joined the call, the participant was on a call and comes back with the same key, or `user_id` is not a user of the organization.",
        503: busy,
      },
    },
  },
};
