import type * as z from "zod";
import type { Reference } from "../../openapi/operation.ts";
import { participantSchema } from "./participants.schemas.ts";

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
    "Who is in a waiting room, and then on a call, as the web app and the video backend report it.",
  schemas: {
    Participant: {
      schema: participantSchema,
      description: "Somebody in a waiting room, then on a call.",
      fields: {
        id: "Identifies the participant.",
        key: "The reporter's own key, unique in the organization.",
        waiting_room_id: "The room that the participant is in, or was last.",
        call_id: "The call that the participant is on, or was; null before.",
        user_id: "The user who takes part; null for somebody without an account.",
        display_name: "What the participant is called.",
        role: "On which side of the call the participant is.",
        waiting_since: "When the wait began; null for one who did not wait.",
        joined_at: "When the participant joined the call; null before.",
        left_at: "When the participant left; null before.",
      },
    },
  },
  platform: {
    "PUT /waiting_rooms/:slug/participants/:key": {
      operationId: "reportParticipant",
      summary: "Report a participant of a waiting room",
      description:
        "The first report takes `display_name`, `role` and `waiting_since`. Who has left comes back with a later `waiting_since`; who is on a call stays in the call's room. Leaving is always possible, entering an inactive room is not.",
      status: 200,
      requestExample: {
        participant: {
          display_name: "Rita Recipient",
          role: "recipient",
          waiting_since: "2026-01-31T09:25:00Z",
        },
      },
      response: { schema: participantSchema, example: participant },
      refusals: {
        422: "The room to enter is not active, a first report lacks a field, `left_at` is before `waiting_since`, or `user_id` is not a user of the organization.",
      },
    },
  },
};
