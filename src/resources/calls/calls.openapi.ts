import type * as z from "zod";
import { busyError, onePage, type Parameter, pageOf, type Reference } from "../../openapi/operation.ts";
import {
  CALL,
  CARDIOLOGY,
  ENDED_AT,
  PAULA,
  PAULAS_PARTICIPANT,
  RITAS_PARTICIPANT,
  STARTED_AT,
  WAITING_SINCE,
} from "../../openapi/story.ts";
import { callSchema, reportedCallSchema } from "./calls.responses.ts";

type Call = z.input<typeof callSchema>;

const ongoing: Call = {
  id: CALL.id,
  organization_user_id: PAULA.id,
  waiting_room_id: CARDIOLOGY.id,
  is_ended: false,
  started_at: STARTED_AT,
  ended_at: null,
};

const ended: Call = { ...ongoing, is_ended: true, ended_at: ENDED_AT };

const reported = (call: Call, legal_hold = false): z.input<typeof reportedCallSchema> => ({
  ...call,
  key: CALL.key,
  legal_hold,
});

/** For reports of what belongs to a call. */
export const callKey: Parameter = {
  description: "The key under which the call was reported.",
  example: CALL.key,
};

export const callsReference: Reference = {
  tag: "Calls",
  description: "Video calls. The paths of transcripts, SOAP notes and egresses contain the id of a call.",
  external: {
    "GET /organization_users/:organization_user_id/calls": {
      operationId: "listCalls",
      summary: "List the calls of an organization user",
      description:
        "Lists the calls that the organization user holds or held, newest first by `started_at`. A user whose membership has ended still has its calls.",
      status: 200,
      response: {
        schema: pageOf("calls", callSchema),
        examples: {
          "A call that has ended": { calls: [ended], pagination: onePage(1) },
          "While it is going on": { calls: [ongoing], pagination: onePage(1) },
          "No calls": { calls: [], pagination: onePage(0) },
        },
      },
      errors: { 404: ["Organization user not found"] },
    },
  },
  platform: {
    "PUT /calls/:key": {
      operationId: "reportCall",
      summary: "Report a call",
      description:
        "Reports a call and its participants, as often as something changes. The first report needs `waiting_room_slug`, `organization_user_id` and `started_at`. Participants who are left out of a later report stay on the call as they are. An ended call stays ended. When a call ends, all its participants have left.",
      status: 200,
      parameters: {
        key: {
          description:
            "Your own key for the call, unique in the service. It is compared exactly. If LiveKit sends its events to the service, the key is the `sid` or the name of the room.",
          example: CALL.key,
        },
      },
      refusals: { 404: "The key is blank, too long, or has control characters." },
      request: {
        fields: {
          call: "What is new about the call.",
          "call.waiting_room_slug":
            "The current slug of the waiting room that the participants came from. A call stays in the room of its first report; later reports need no slug, and it is not looked up. A personal room that was retired because its owner is no longer a provider can still be named for a call that started before that.",
          "call.organization_user_id":
            "The organization user who holds the call: the `id` of a user of the room's organization, not the `user_id`. A later report can correct it.",
          "call.started_at": "When the call started. A later report can correct it.",
          "call.ended_at":
            "When the call ended. Null, or left out of the first report: it is going on. A later report can correct the time, but null does not reopen an ended call.",
          "call.failed":
            "Whether the call failed: see `call_fail_rate` of the call metrics. Null, or left out of the first report: it did not.",
          "call.legal_hold":
            "While it is true, neither retention nor a request deletes the recordings, the transcript or the SOAP note of the call. Null or false ends the hold. Left out of the first report: there is none.",
          "call.participants": "Participants of the call of whom something is new, each once.",
          "call.participants.key":
            "Your own key for the participant, unique in the organization and compared exactly. A participant who waited under this key is the same participant, and no longer waits. An unknown key makes a new one.",
          "call.participants.display_name": "The name of the participant. A new participant needs one.",
          "call.participants.role":
            "`recipient` for a patient, for example, and `provider` for the person who gives the consultation. A new participant needs one.",
          "call.participants.user_id":
            "The user who takes part: the `user_id` of a user of the organization. Null, or left out for a new participant: a person without an account.",
          "call.participants.waiting_since":
            "When the participant started to wait. Null, or left out for a new participant: the participant did not wait, and does not count in `average_wait_time`.",
          "call.participants.joined_at":
            "When the participant joined the call; null if that is not known. Somebody who has left comes back with a time after `left_at`.",
          "call.participants.left_at":
            "When the participant left. Null, or left out: the participant is still there, unless an earlier report said otherwise.",
          "call.participants.recording_consent":
            "Whether the participant agrees to the recording. Null, or left out for a new participant: not asked. Recordings of a call can be read only while it is true for all its participants.",
        },
        examples: {
          "A call begins": {
            call: {
              waiting_room_slug: CARDIOLOGY.slug,
              organization_user_id: PAULA.id,
              started_at: "2026-01-31T09:30:00Z",
              participants: [
                {
                  ...withoutId(RITAS_PARTICIPANT),
                  role: "recipient",
                  waiting_since: WAITING_SINCE,
                  joined_at: "2026-01-31T09:30:00Z",
                  recording_consent: true,
                },
                {
                  ...withoutId(PAULAS_PARTICIPANT),
                  role: "provider",
                  user_id: PAULA.user_id,
                  joined_at: "2026-01-31T09:30:00Z",
                  recording_consent: true,
                },
              ],
            },
          },
          "A participant leaves": {
            call: { participants: [{ key: RITAS_PARTICIPANT.key, left_at: "2026-01-31T09:44:30Z" }] },
          },
          "The call ends": { call: { ended_at: "2026-01-31T09:45:00Z", failed: false } },
          "A legal hold begins": { call: { legal_hold: true } },
        },
      },
      response: {
        schema: reportedCallSchema,
        examples: {
          "While the call is going on": reported(ongoing),
          "After its end": reported(ended),
          "Under legal hold": reported(ended, true),
        },
      },
      errors: {
        422: [
          "call.waiting_room_slug: the first report must name a waiting room",
          "call.waiting_room_slug: must be the current slug of a waiting room",
          "call: organization_user_id and started_at are required in the first report",
          "call.organization_user_id: is not a user of the call's organization; if another organization uses the key, report the call under a new key",
          "call.ended_at: must not be before started_at",
          "call.participants: must name each participant once",
          "call.participants: display_name and role are required for a new participant",
          "call.participants: a user_id is not a user of the organization",
          "call.participants: a participant is on another call: report this person under a new key",
          "call.participants: left_at must not be before joined_at or waiting_since",
        ],
        503: [busyError],
      },
    },
  },
};

function withoutId({ key, display_name }: typeof RITAS_PARTICIPANT) {
  return { key, display_name };
}
