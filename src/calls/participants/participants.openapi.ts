import { invalidBody } from "../../http/errors.ts";
import { SILENCE_UNTIL_END } from "../../lifetimes.ts";
import { MAX_LISTED_WAITING } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { listResponse, type Reference } from "../../openapi/operation.ts";
import { REPORTED_AT } from "../../openapi/reports.ts";
import * as story from "../../openapi/story.ts";
import { waitingRoomNotFound } from "../../rooms/waiting_rooms/waiting_rooms.refusals.ts";
import { HOUR } from "../../units.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import * as refusals from "./participants.refusals.ts";
import * as responses from "./participants.responses.ts";

const ritaOnCall = exampleOf(responses.participantOnCallSchema);

const paulaOnCall: typeof ritaOnCall = {
  ...ritaOnCall,
  id: story.PAULAS_PARTICIPANT.id,
  role: "provider",
  user_id: story.PAULA.user_id,
  display_name: story.PAULAS_PARTICIPANT.display_name,
  external_reference: null,
  waiting_since: null,
};

export const participantsReference: Reference = {
  tag: "Participants",
  description:
    "People in a waiting room and then on a call, as the web app and the video backend report them. A person who joins a call is reported with the call. An organization may have the names and references of participants erased some time after their visit.",
  external: {
    "GET /waiting_rooms/:slug/participants": {
      operationId: "listWaitingParticipants",
      summary: "List the people waiting in a room",
      description: `Lists the people waiting in the room now, longest first; at most ${MAX_LISTED_WAITING}. For a personal room, the client needs access to the calls of the room's owner. People on a call are no longer waiting.`,
      response: listResponse(
        "participants",
        responses.waitingParticipantSchema,
        "The waiting participants; empty if nobody is waiting.",
        MAX_LISTED_WAITING,
      ),
      refusals: {
        404: "The organization has no such room, or it is the personal room of a user that the client has no access to.",
      },
      errors: [waitingRoomNotFound()],
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/participants": {
      operationId: "listParticipants",
      summary: "List the participants of a call",
      description:
        "Lists everybody who is or was on the call, ordered by id, including people who came late or left early. You can list them while the call is going on.",
      response: {
        ...listResponse(
          "participants",
          responses.participantOnCallSchema,
          "The participants of the call; empty if nobody came.",
        ),
        example: { participants: [ritaOnCall, paulaOnCall] },
      },
      errors: [callNotFound()],
    },
    "PUT /organization_users/:organization_user_id/calls/:call_id/participants/:participant_id": {
      operationId: "updateParticipant",
      summary: "Correct the name or reference of a participant",
      description:
        "Corrects the name or the reference of a participant, also while the call is going on. The correction applies wherever the person is shown: in the waiting room, on all calls of their planned visit, in the visit itself, and as a speaker in transcripts. Reports do not change it later. Only providers and administrators can correct participants.",
      parameters: { participant_id: { description: "The id of the participant.", example: ritaOnCall.id } },
      request: {
        fields: {
          "participant.display_name": "The corrected name.",
          "participant.external_reference": "The corrected reference; null clears it.",
        },
      },
      response: { schema: responses.participantOnCallSchema },
      refusals: {
        404: "The client has no access to the call, the call has no such participant, or the client acts as an assistant.",
      },
      errors: [refusals.participantNotFound(), refusals.participantErased()],
    },
  },
  platform: {
    "PUT /waiting_rooms/:slug/participants/:key": {
      operationId: "reportParticipant",
      summary: "Report a participant of a waiting room",
      description:
        "Reports that a person begins to wait in a room, or leaves it. The first report needs `display_name`, `role` and `waiting_since`; with the key of a visit's participant, it needs only `waiting_since`. If the person enters another room of the organization, report them there with the same key. Nobody can enter an inactive room, but leaving is always possible. A participant on a call stays in the call's room; after the call, a new visit needs a new key.\n\n" +
        `If no report changes anything about a waiting person for ${SILENCE_UNTIL_END / HOUR} hours, the wait is over. A later \`waiting_since\` begins a new visit.`,
      parameters: {
        slug: {
          description:
            "The slug of the waiting room. To enter, it must be the current slug. For a participant who has entered, you can use any slug that the room ever had, even after it was retired.",
          example: story.CARDIOLOGY.slug,
        },
        key: {
          description:
            "Your own key for the participant, unique in the organization. It is compared exactly. Use the same key for the participant when you report a call.",
          example: story.RITAS_NEXT_PARTICIPANT.key,
        },
      },
      request: {
        fields: {
          ...REPORTED_AT,
          participant: "The new facts about the participant.",
          "participant.external_reference":
            "Your own id for the person, such as a patient number. It is compared exactly, and several participants can have the same reference. Null clears it.",
          "participant.waiting_since":
            "When the participant began to wait. A time after `left_at` begins a new stay of a participant who had left. An earlier time than the known one corrects it, unless the report is about an earlier visit (for example, because its `left_at` is before the known time): such a report changes nothing.",
          "participant.left_at":
            "When the participant left the room without joining a call. Null, or omitted from the first report: the participant is there. Null does not bring back a participant who left.",
        },
        examples: {
          "A person begins to wait": {
            participant: {
              display_name: story.RITAS_NEXT_PARTICIPANT.display_name,
              role: "recipient",
              external_reference: story.RITAS_REFERENCE,
              waiting_since: story.WAITING_SINCE,
            },
            reported_at: story.WAITING_SINCE,
          },
          "A user of the organization begins to wait": {
            participant: {
              display_name: story.PAULAS_PARTICIPANT.display_name,
              role: "provider",
              user_id: story.PAULA.user_id,
              waiting_since: story.WAITING_SINCE,
            },
          },
          "A person leaves": { participant: { left_at: "2026-01-31T09:28:00Z" } },
        },
      },
      response: {
        schema: responses.participantSchema,
        example: { ...exampleOf(responses.participantSchema), ...story.RITAS_NEXT_PARTICIPANT },
      },
      errors: [
        waitingRoomNotFound(),
        refusals.slugIsOld(),
        refusals.participantIncomplete(),
        invalidBody(`participant.left_at: ${refusals.LEFT_BEFORE_WAITING}`),
        refusals.leftTooEarly(),
        refusals.participantNotMember(),
        refusals.roomInactive(),
        refusals.participantLeftCall(),
      ],
    },
  },
};
