import { FROM_AFTER_TO } from "../../http/dates.ts";
import { ApiError, unprocessable } from "../../http/errors.ts";
import { SILENCE_UNTIL_END } from "../../lifetimes.ts";
import { CALLS_LOOKED_THROUGH, MAX_CONSENT_DECISIONS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import {
  afterPosition,
  afterResponse,
  noPosition,
  type Parameter,
  type Reference,
} from "../../openapi/operation.ts";
import { REPORTED_AT } from "../../openapi/reports.ts";
import * as story from "../../openapi/story.ts";
import { HOUR } from "../../units.ts";
import { tooManyDecisions } from "../consents/consents.refusals.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import {
  newParticipantIncomplete,
  participantOnAnotherCall,
  participantsLeftTooEarly,
  participantsNotMembers,
} from "../participants/participants.refusals.ts";
import {
  callEndsTooEarly,
  callIncomplete,
  callNamesNoRoom,
  callNamesUnknownRoom,
  callNotFound,
  callOwnerNotFound,
  callOwnerNotMember,
  callReferenceErased,
  PARTICIPANT_REPEATED,
} from "./calls.refusals.ts";
import { callSchema, callWithResultsSchema, reportedCallSchema } from "./calls.responses.ts";

const goingOn = { is_ended: false, ended_at: null };

const ended = exampleOf(callSchema);

const detailed = exampleOf(callWithResultsSchema);

const withoutResults = { transcript: "none", soap_note: "none", egresses: 0 } as const;

const reported = exampleOf(reportedCallSchema);

const fromAfterTo = new ApiError(400, `from: ${FROM_AFTER_TO}`);

/** The filters of lists of calls. */
const filters: Record<string, Parameter> = {
  from: { description: "Only calls that started on this date (UTC) or later.", example: "2026-01-31" },
  to: {
    description: "Only calls that started on this date (UTC) or earlier. It must not be before `from`.",
    example: "2026-02-28",
  },
  external_reference: {
    description: "Only calls with exactly this `external_reference`.",
    example: story.VISIT_REFERENCE,
  },
  participant_reference: {
    description:
      "Only calls with a participant who has exactly this `external_reference`: the visits of a patient, for example.",
    example: story.RITAS_REFERENCE,
  },
  after: afterPosition(story.CALL_POSITION),
};

const inParts = `To read all, send the request again with \`next_after\` as \`after\`, until it is null. A request with a reference looks through at most ${CALLS_LOOKED_THROUGH} calls that have it: a page can be empty, and others follow.`;

/** For reports of what belongs to a call. */
export const callKey: Parameter = {
  description: "The key under which the call was reported.",
  example: story.CALL.key,
};

export const callsReference: Reference = {
  tag: "Calls",
  description: "Video calls. The paths of transcripts, SOAP notes and egresses contain the id of a call.",
  external: {
    "GET /calls": {
      operationId: "findCalls",
      summary: "Find calls of everybody whom you reach",
      description: `Lists the calls of all organization users whom the client reaches, newest first by \`started_at\`: for an organization_admin all of the organization, for a provider the provider's own, for a provider_assistant its own and those of the providers whom it assists. The parameters can be combined. ${inParts} A reference in a URL can end up in the logs of proxies, so it should not be a name.`,
      parameters: filters,
      response: afterResponse("calls", callSchema, {
        "The call of a visit": [[ended], null],
        "There are more": [[ended], story.CALL_POSITION],
        "No such call": [[], null],
      }),
      errors: [fromAfterTo, noPosition()],
    },
    "GET /organization_users/:organization_user_id/calls": {
      operationId: "listCalls",
      summary: "List the calls of an organization user",
      description: `Lists the calls that the organization user holds or held, newest first by \`started_at\`. A user whose membership has ended still has its calls. The parameters can be combined. ${inParts}`,
      parameters: filters,
      response: afterResponse("calls", callSchema, {
        "A call that has ended": [[ended], null],
        "While it is going on": [[{ ...ended, ...goingOn }], null],
        "There are more": [[ended], story.CALL_POSITION],
        "No calls": [[], null],
      }),
      errors: [callOwnerNotFound(), fromAfterTo, noPosition()],
    },
    "GET /organization_users/:organization_user_id/calls/:call_id": {
      operationId: "getCall",
      summary: "Get a call",
      description:
        "Returns a call, also while it is going on, and how far its results are: one request says what can be read.",
      response: {
        schema: callWithResultsSchema,
        examples: {
          "All results are ready": detailed,
          "While it is going on": { ...detailed, ...goingOn, ended_by: null, results: withoutResults },
          "A final transcript, and no consent to the recording": {
            ...detailed,
            results: { ...withoutResults, transcript: "ready", soap_note: "pending" },
          },
          "Under legal hold, as an organization_admin sees it": { ...detailed, legal_hold: story.HOLD },
        },
      },
      errors: [callNotFound()],
    },
    "PUT /organization_users/:organization_user_id/calls/:call_id": {
      operationId: "updateCall",
      summary: "Set the reference of a call",
      description:
        "Sets the text by which your own system knows the visit, also while the call is going on. What is left out stays as it is.",
      request: {
        fields: {
          call: "What changes.",
          "call.external_reference":
            "The text by which your own system knows the visit, such as its number. It is compared exactly, and several calls can have the same. Null clears it. What you say stays: what the platform or LiveKit reports later does not change it.",
        },
        examples: {
          "The number of the visit": { call: { external_reference: story.VISIT_REFERENCE } },
          "No reference any more": { call: { external_reference: null } },
        },
      },
      response: {
        schema: callWithResultsSchema,
        examples: {
          "The number of the visit": detailed,
          "No reference any more": { ...detailed, external_reference: null },
          "Under legal hold, as an organization_admin sees it": { ...detailed, legal_hold: story.HOLD },
        },
      },
      errors: [callNotFound(), callReferenceErased()],
    },
  },
  platform: {
    "GET /organizations/:organization_id/calls/:key": {
      operationId: "getReportedCall",
      summary: "Get a call",
      parameters: { key: callKey },
      response: {
        schema: reportedCallSchema,
        examples: {
          "A call that has ended": reported,
          "While it is going on": { ...reported, ...goingOn },
          "Under legal hold": {
            ...reported,
            legal_hold: story.HOLD,
          },
        },
      },
      errors: [callNotFound()],
    },
    "PUT /organizations/:organization_id/calls/:key": {
      operationId: "reportCall",
      summary: "Report a call",
      description:
        "Reports a call and its participants, as often as something changes. The first report needs `waiting_room_slug`, `organization_user_id` and `started_at`. Participants who are left out of a later report stay on the call as they are. An ended call stays ended. When a call ends, all its participants have left.\n\n" +
        `If for ${SILENCE_UNTIL_END / HOUR} hours no report changes anything of a call that is going on, neither of the call and its participants nor of its transcript, SOAP note and recordings, the service ends it at the latest time that it knows of it: \`ended_by\` is \`assumed\`. A later report with \`ended_at\` replaces that end.`,
      parameters: {
        key: {
          description:
            "Your own key for the call, unique in the organization. It is compared exactly. If LiveKit sends its events to the service, the key is the `sid` or the name of the room.",
          example: story.CALL.key,
        },
      },
      refusals: { 404: "The key is blank, too long, or has control characters." },
      request: {
        fields: {
          ...REPORTED_AT,
          call: "What is new about the call.",
          "call.waiting_room_slug":
            "The current slug of the waiting room that the participants came from. A call stays in the room of its first report; later reports need no slug, and it is not looked up. A personal room that was retired because its owner is no longer a provider can still be named for a call that started before that.",
          "call.failed":
            "Whether the call failed: see `call_fail_rate` of the call metrics. Null, or left out of the first report: it did not.",
          "call.participants": "The participants of the call about whom there is something new, each once.",
          "call.participants.display_name": "The name of the participant. A new participant needs one.",
          "call.participants.role":
            "`recipient` for a patient, for example, and `provider` for the person who gives the consultation. A new participant needs one.",
          "call.participants.user_id":
            "The user who takes part: the `user_id` of a user of the organization. Null, or left out for a new participant: a person without an account.",
          "call.participants.external_reference":
            "The text by which another system knows the person, such as the number of a patient. It is compared exactly, and several participants can have the same. Null clears it.",
          "call.participants.waiting_since":
            "When the participant started to wait. Null, or left out for a new participant: the participant did not wait, and does not count in `average_wait_time`.",
          "call.participants.joined_at":
            "When the participant joined the call; null if that is not known. Somebody who has left comes back with a time after `left_at`; then what is said of the time before is late, and changes no times.",
          "call.participants.left_at":
            "When the participant left. Null, or left out: the participant is still there, unless an earlier report said otherwise.",
          "call.participants.key":
            "Your own key for the participant, unique in the organization and compared exactly. A participant who waited under this key is the same participant, and no longer waits. An unknown key makes a new one.",
          "call.participants.recording_consent": `Whether the participant agrees to the recording. Null, or left out: nothing new, and at first that the participant was not asked. Recordings of a call can be read only while it is true for all its participants. Each decision is kept, and the latest counts. After ${MAX_CONSENT_DECISIONS} decisions of a participant, only a refusal is taken.`,
          "call.participants.recording_consent_at":
            "When the participant decided that. Send it wherever you know it: then a report can be repeated without harm. Without it, a refusal is a decision of `reported_at`, each time it is reported; and a consent is one only if it differs from what you said last, from when the participant joined. So consent that was withdrawn comes back only with a later time here. Ignored without `recording_consent`.",
          "call.participants.recording_consent_method":
            "How the participant said so, for example `verbal` or `form`. Ignored without `recording_consent`.",
          "call.organization_user_id":
            "The organization user who holds the call: the `id` of a user of the organization. A later report can correct it.",
          "call.started_at": "When the call started. A later report can correct it.",
          "call.ended_at":
            "When the call ended. Null, or left out of the first report: it is going on. A later report can correct the time, but null does not reopen an ended call.",
          "call.external_reference":
            "The text by which another system knows the visit, such as its number in the organization's own records. It is compared exactly, and several calls can have the same. Null clears it. The organization can change it too: then no report changes it any more. Once the names of the call's participants are erased, it is ignored.",
          "call.legal_hold":
            "True begins a legal hold without a reason, unless one is running; that of the organization becomes the platform's. False and null change nothing: only `DELETE /organizations/{organization_id}/calls/{key}/legal_hold` ends a hold.",
        },
        examples: {
          "A call begins": {
            call: {
              external_reference: story.VISIT_REFERENCE,
              waiting_room_slug: story.CARDIOLOGY.slug,
              organization_user_id: story.PAULA.id,
              started_at: "2026-01-31T09:30:00Z",
              participants: [
                {
                  ...withoutId(story.RITAS_PARTICIPANT),
                  role: "recipient",
                  external_reference: story.RITAS_REFERENCE,
                  waiting_since: story.WAITING_SINCE,
                  joined_at: "2026-01-31T09:30:00Z",
                  recording_consent: true,
                },
                {
                  ...withoutId(story.PAULAS_PARTICIPANT),
                  role: "provider",
                  user_id: story.PAULA.user_id,
                  joined_at: "2026-01-31T09:30:00Z",
                  recording_consent: true,
                },
              ],
            },
          },
          "A participant leaves": {
            call: { participants: [{ key: story.RITAS_PARTICIPANT.key, left_at: "2026-01-31T09:44:30Z" }] },
          },
          "A participant withdraws consent": {
            call: {
              participants: [
                {
                  key: story.RITAS_PARTICIPANT.key,
                  recording_consent: false,
                  recording_consent_at: story.WITHDRAWN_AT,
                  recording_consent_method: "verbal",
                },
              ],
            },
          },
          "The call ends": {
            call: { ended_at: "2026-01-31T09:45:00Z", failed: false },
            reported_at: "2026-01-31T09:45:01Z",
          },
          "A legal hold begins": { call: { legal_hold: true } },
        },
      },
      response: {
        schema: reportedCallSchema,
        examples: {
          "While the call is going on": { ...reported, ...goingOn, ended_by: null },
          "After its end": reported,
          "After an end that nobody reported": { ...reported, ended_by: "assumed" },
          "Under legal hold": { ...reported, legal_hold: { ...story.HOLD, reason: null } },
        },
      },
      errors: [
        organizationNotFound(),
        callNamesNoRoom(),
        callNamesUnknownRoom(),
        callIncomplete(),
        callOwnerNotMember(),
        callEndsTooEarly(),
        unprocessable(`call.participants: ${PARTICIPANT_REPEATED}`),
        newParticipantIncomplete(),
        participantsNotMembers(),
        participantOnAnotherCall(),
        participantsLeftTooEarly(),
        tooManyDecisions(),
      ],
    },
  },
};

function withoutId({ key, display_name }: typeof story.RITAS_PARTICIPANT) {
  return { key, display_name };
}
