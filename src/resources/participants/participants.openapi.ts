import * as z from "zod";
import { unprocessable } from "../../http/errors.ts";
import { SILENCE_UNTIL_END } from "../../lifetimes.ts";
import { MAX_LISTED_WAITING } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import { REPORTED_AT } from "../../openapi/reports.ts";
import * as story from "../../openapi/story.ts";
import { HOUR } from "../../units.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import { waitingRoomNotFound } from "../waiting_rooms/waiting_rooms.refusals.ts";
import {
  LEFT_BEFORE_WAITING,
  leftTooEarly,
  participantIncomplete,
  participantLeftCall,
  participantNotMember,
  roomInactive,
  slugIsOld,
} from "./participants.refusals.ts";
import {
  participantOnCallSchema,
  participantSchema,
  waitingParticipantSchema,
} from "./participants.responses.ts";
import { ERASED_NAME } from "./participants.schemas.ts";

const rita = exampleOf(participantSchema);

const ritaOnCall = exampleOf(participantOnCallSchema);

const paulaOnCall: typeof ritaOnCall = {
  ...ritaOnCall,
  id: story.PAULAS_PARTICIPANT.id,
  role: "provider",
  user_id: story.PAULA.user_id,
  display_name: story.PAULAS_PARTICIPANT.display_name,
  external_reference: null,
  waiting_since: null,
};

const present = { left_at: null };

export const participantsReference: Reference = {
  tag: "Participants",
  description:
    "People in a waiting room and then on a call, as the web app and the video backend report them. Who joins a call is reported with the call. An organization may have the names and references of participants erased some time after their visit.",
  external: {
    "GET /waiting_rooms/:slug/participants": {
      operationId: "listWaitingParticipants",
      summary: "List who waits in a room",
      description: `Lists who waits in the room now, those first who have waited longest; at most ${MAX_LISTED_WAITING}. Who waits in a personal room is only shown to clients that reach the calls of its owner. Who is on a call waits no longer.`,
      response: {
        schema: z.object({
          participants: z
            .array(waitingParticipantSchema)
            .max(MAX_LISTED_WAITING)
            .describe("Those who wait; none if nobody does."),
        }),
        examples: {
          "Somebody waits": { participants: [exampleOf(waitingParticipantSchema)] },
          "Nobody waits": { participants: [] },
        },
      },
      refusals: {
        404: "The organization has no such room, or it is the personal room of somebody whom the client does not reach.",
      },
      errors: [waitingRoomNotFound()],
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/participants": {
      operationId: "listParticipants",
      summary: "List the participants of a call",
      description:
        "Lists everybody who is or was on the call, by id; also while the call is going on, and also those who came late or left early.",
      response: {
        schema: z.object({
          participants: z.array(participantOnCallSchema).describe("Those on the call; none if nobody came."),
        }),
        examples: {
          "After the call": { participants: [ritaOnCall, paulaOnCall] },
          "While it is going on": {
            participants: [
              { ...ritaOnCall, ...present },
              { ...paulaOnCall, ...present },
            ],
          },
          "Once the names were erased": {
            participants: [
              { ...ritaOnCall, display_name: ERASED_NAME, external_reference: null },
              { ...paulaOnCall, display_name: ERASED_NAME },
            ],
          },
        },
      },
      errors: [callNotFound()],
    },
  },
  platform: {
    "PUT /waiting_rooms/:slug/participants/:key": {
      operationId: "reportParticipant",
      summary: "Report a participant of a waiting room",
      description:
        "Reports that somebody begins to wait in a room, or leaves it. The first report needs `display_name`, `role` and `waiting_since`; under the key of somebody whom a visit names, only `waiting_since`. Somebody who enters another room of the organization is reported there with the same key. Nobody can enter an inactive room, but leaving is always possible. A participant on a call stays in the room of the call; after the call, a new visit needs a new key.\n\n" +
        `If for ${SILENCE_UNTIL_END / HOUR} hours no report changes anything of somebody who waits, the wait is over. A later \`waiting_since\` is a new visit.`,
      parameters: {
        slug: {
          description:
            "The slug of the waiting room. To enter, it must be the current one. A participant who is known is found by every slug that the room ever had, even after it was retired.",
          example: story.CARDIOLOGY.slug,
        },
        key: {
          description:
            "Your own key for the participant, unique in the organization. It is compared exactly. The report of a call names the participant by the same key.",
          example: story.RITAS_PARTICIPANT.key,
        },
      },
      request: {
        fields: {
          ...REPORTED_AT,
          participant: "What is new about the participant.",
          "participant.external_reference":
            "The text by which another system knows the person, such as the number of a patient. It is compared exactly, and several participants can have the same. Null clears it.",
          "participant.waiting_since":
            "When the participant began to wait. A time after `left_at` is a new stay of somebody who had left. An earlier time than the known one corrects it, unless the report is about a visit before (as where its `left_at` is before the known time): that changes nothing.",
          "participant.left_at":
            "When the participant left the room without joining a call. Null, or left out of the first report: the participant is there. Null does not bring back somebody who left.",
        },
        examples: {
          "Somebody begins to wait": {
            participant: {
              display_name: story.RITAS_PARTICIPANT.display_name,
              role: "recipient",
              external_reference: story.RITAS_REFERENCE,
              waiting_since: "2026-01-31T09:25:00Z",
            },
            reported_at: "2026-01-31T09:25:00Z",
          },
          "Somebody with an account begins to wait": {
            participant: {
              display_name: story.PAULAS_PARTICIPANT.display_name,
              role: "provider",
              user_id: story.PAULA.user_id,
              waiting_since: "2026-01-31T09:25:00Z",
            },
          },
          "Somebody leaves": { participant: { left_at: "2026-01-31T09:28:00Z" } },
          "Somebody comes back": { participant: { waiting_since: "2026-01-31T09:29:00Z" } },
        },
      },
      response: {
        schema: participantSchema,
        examples: {
          "A person who waits": rita,
          "A user of the organization who waits": {
            ...rita,
            ...story.PAULAS_PARTICIPANT,
            user_id: story.PAULA.user_id,
            role: "provider",
          },
          "A person who left": { ...rita, left_at: "2026-01-31T09:28:00.000Z" },
          "A person on a call": { ...rita, call_id: story.CALL.id, joined_at: story.STARTED_AT },
        },
      },
      errors: [
        waitingRoomNotFound(),
        slugIsOld(),
        participantIncomplete(),
        unprocessable(`participant.left_at: ${LEFT_BEFORE_WAITING}`),
        leftTooEarly(),
        participantNotMember(),
        roomInactive(),
        participantLeftCall(),
      ],
    },
  },
};
