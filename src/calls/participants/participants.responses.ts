import * as z from "zod";
import { PARTICIPANT_ROLES } from "../../database/enums.ts";
import { externalReference, id, key, name, timestamp, visitId } from "../../http/wire.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";

export const participantSchema = named("Participant", "A person in a waiting room, and then on a call.", {
  id: id().meta({ description: "The id of the participant.", example: story.RITAS_PARTICIPANT.id }),
  key: key().meta({
    description: "The reporter's own key for the participant, unique in the organization.",
    example: story.RITAS_PARTICIPANT.key,
  }),
  waiting_room_id: id().meta({
    description: "The waiting room that the participant is in or was in last.",
    example: story.CARDIOLOGY.id,
  }),
  call_id: id().nullable().describe("The call that the participant is or was on; null before the call."),
  user_id: id()
    .nullable()
    .describe(
      "The user who takes part: a `user_id` of a user of the organization; null for a person without an account.",
    ),
  display_name: field(name(), "The name of the participant.", story.RITAS_PARTICIPANT.display_name),
  role: z.enum(PARTICIPANT_ROLES).meta({
    description:
      "`recipient` for a patient, for example, and `provider` for the person who gives the consultation.",
    example: "recipient",
  }),
  waiting_since: timestamp().nullable().meta({
    description: "When the participant started to wait; null for a participant who joined without waiting.",
    example: story.WAITING_SINCE,
  }),
  joined_at: timestamp()
    .nullable()
    .describe("When the participant joined the call; null before that, or if no report said when."),
  left_at: field(timestamp().nullable(), "When the participant left; null while present.", null),
});

const personSchema = participantSchema
  .pick({ id: true, role: true, user_id: true, display_name: true })
  .extend({
    display_name: name().meta({
      description: "The name of the participant; `Participant` once the name was erased.",
      example: story.RITAS_PARTICIPANT.display_name,
    }),
    external_reference: externalReference().nullable().meta({
      description:
        "Your own id for the person, such as a patient number; null if there is none, or if it was erased with the name. Several participants can have the same reference.",
      example: story.RITAS_REFERENCE,
    }),
  });

export const participantOnCallSchema = named("ParticipantOnCall", "A person on a call.", {
  ...personSchema.shape,
  waiting_since: participantSchema.shape.waiting_since,
  joined_at: timestamp().nullable().meta({
    description: "When the participant joined the call; null if no report said when.",
    example: story.STARTED_AT,
  }),
  left_at: field(timestamp().nullable(), "When the participant left; null while present.", story.ENDED_AT),
  recording_consent: z.boolean().nullable().meta({
    description:
      "Whether the participant agrees to the recording: their decision that counts, from the call's list of consents. null if the participant was not asked.",
    example: true,
  }),
});

export const waitingParticipantSchema = named("WaitingParticipant", "A person waiting in a waiting room.", {
  ...personSchema.shape,
  visit_id: visitId().meta({ example: null }),
  waiting_since: field(timestamp(), "When the participant started to wait.", story.WAITING_SINCE),
});
