import { invalidBody } from "../../http/errors.ts";
import { SILENCE_UNTIL_END } from "../../lifetimes.ts";
import { CALLS_LOOKED_THROUGH, MAX_CONSENT_DECISIONS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import {
  afterPosition,
  afterResponse,
  dates,
  type Parameter,
  type Reference,
} from "../../openapi/operation.ts";
import { REPORTED_AT } from "../../openapi/reports.ts";
import * as story from "../../openapi/story.ts";
import { organizationNotFound } from "../../organization/organizations/organizations.refusals.ts";
import { grouped, HOUR } from "../../units.ts";
import { tooManyDecisions } from "../consents/consents.merge.ts";
import * as participants from "../participants/participants.refusals.ts";
import * as refusals from "./calls.refusals.ts";
import { callDetailsSchema, callSchema, reportedCallSchema } from "./calls.responses.ts";

const called = exampleOf(callSchema);

const detailed = exampleOf(callDetailsSchema);

const detailedCall = {
  schema: callDetailsSchema,
  examples: {
    "All results are ready": detailed,
    "Under legal hold, as an organization_admin sees it": { ...detailed, legal_hold: story.HOLD },
  },
};

const reported = exampleOf(reportedCallSchema);

const reportedCall = {
  schema: reportedCallSchema,
  examples: {
    "While the call is going on": { ...reported, is_ended: false, ended_at: null, ended_by: null },
    "After its end": reported,
    "Under legal hold": { ...reported, legal_hold: { ...story.HOLD, reason: null } },
  },
};

const filters: Record<string, Parameter> = {
  ...dates("calls that started"),
  external_reference: {
    description: "Only calls with exactly this `external_reference`.",
    example: story.HELD_VISIT_REFERENCE,
  },
  participant_reference: {
    description:
      "Only calls with a participant who has exactly this `external_reference`, for example the visits of one patient.",
    example: story.RITAS_REFERENCE,
  },
  after: afterPosition(story.CALL_POSITION),
};

const inParts = `To read all of them, repeat the request with \`next_after\` as \`after\` until it is null. With a reference, each request scans up to ${grouped(CALLS_LOOKED_THROUGH)} calls that have it, so a page can be empty although more pages follow.`;

export const callsReference: Reference = {
  tag: "Calls",
  description: "Video calls. The paths of transcripts, SOAP notes and egresses contain the id of a call.",
  external: {
    "GET /calls": {
      operationId: "findCalls",
      summary: "Find calls of all users",
      description: `Lists the calls of all organization users that the client has access to, newest first by \`started_at\`. An organization_admin has access to all calls of the organization, a provider only to its own, and a provider_assistant to its own and to those of the providers it assists. A call of a visit is listed for the visit's holder too, even if a substitute held it: its row says who did. The parameters can be combined. ${inParts} A reference in a URL can end up in the logs of proxies, so it should not be a name.`,
      parameters: filters,
      response: {
        ...afterResponse("calls", callSchema),
        examples: {
          "The call of a visit": { calls: [called], next_after: null },
          "There are more": { calls: [called], next_after: story.CALL_POSITION },
        },
      },
    },
    "GET /organization_users/:organization_user_id/calls": {
      operationId: "listCalls",
      summary: "List the calls of an organization user",
      description: `Lists the calls that the organization user holds or held, newest first by \`started_at\`. A user whose membership has ended keeps their calls. The parameters can be combined. ${inParts}`,
      parameters: filters,
      response: afterResponse("calls", callSchema),
      errors: [refusals.callOwnerNotFound()],
    },
    "GET /organization_users/:organization_user_id/calls/:call_id": {
      operationId: "getCall",
      summary: "Get a call",
      description:
        "Returns a call, even while it is going on, with the state of its results, so that one request shows which results you can read.",
      response: detailedCall,
      errors: [refusals.callNotFound()],
    },
    "PUT /organization_users/:organization_user_id/calls/:call_id": {
      operationId: "updateCall",
      summary: "Set the reference of a call",
      description:
        "Sets your own id for the visit. You can set it while the call is going on. Omitted fields keep their values.",
      request: {
        fields: {
          call: "The fields to change.",
          "call.external_reference":
            "The text by which your own system knows the visit, such as its number. It is compared exactly, and several calls can have the same reference. Null clears it. Later reports from the platform or LiveKit do not change what you set.",
        },
      },
      response: detailedCall,
      errors: [refusals.callNotFound(), refusals.callReferenceErased()],
    },
  },
  platform: {
    "GET /organizations/:organization_id/calls/:key": {
      operationId: "getReportedCall",
      summary: "Get a call",
      response: reportedCall,
      errors: [refusals.callNotFound()],
    },
    "PUT /organizations/:organization_id/calls/:key": {
      operationId: "reportCall",
      summary: "Report a call",
      description:
        "Reports a call and its participants. Send a report whenever something changes. The first report needs `waiting_room_slug`, `organization_user_id` and `started_at`. Participants omitted from a later report stay on the call unchanged. An ended call stays ended. When a call ends, all its participants have left.\n\n" +
        `If no report changes the call, its participants, transcript, SOAP note or recordings for ${SILENCE_UNTIL_END / HOUR} hours, the service ends the call at the latest time that it knows of: \`ended_by\` is \`assumed\`. A later report with \`ended_at\` replaces that end.`,
      parameters: {
        key: {
          description:
            "Your own key for the call, unique in the organization. It is compared exactly. If LiveKit sends its events to the service, the key is the `sid` of the room.",
          example: story.CALL.key,
        },
      },
      refusals: { 404: "The key is blank, too long, or contains control characters." },
      request: {
        fields: {
          ...REPORTED_AT,
          call: "The new facts about the call.",
          "call.waiting_room_slug":
            "A slug of the waiting room that the participants came from: the current slug, or one that the room had before it was renamed or retired. A call stays in the room of its first report; later reports need no slug, and the service ignores it.",
          "call.failed":
            "Whether the call failed: see `call_fail_rate` of the call metrics. Null, or omitted from the first report: it did not.",
          "call.participants": "The participants of the call with something to report, each once.",
          "call.participants.display_name": "The name of the participant. Required for a new participant.",
          "call.participants.role":
            "`recipient` for a patient, for example, and `provider` for the person who gives the consultation. Required for a new participant.",
          "call.participants.user_id":
            "The user who takes part: the `user_id` of a user of the organization. Null, or omitted for a new participant: a person without an account.",
          "call.participants.external_reference":
            "Your own id for the person, such as a patient number. It is compared exactly, and several participants can have the same reference. Null clears it.",
          "call.participants.waiting_since":
            "When the participant started to wait. Null, or omitted for a new participant: the participant did not wait, and does not count in `average_wait_time`.",
          "call.participants.joined_at":
            "When the participant joined the call; null if unknown. A time after `left_at` means that a participant who had left has come back. After that, reports about the time before the return are late and change no times.",
          "call.participants.left_at":
            "When the participant left. Null or omitted: the participant is still there, unless an earlier report said otherwise.",
          "call.participants.key":
            "Your own key for the participant, unique in the organization and compared exactly. A person who waited under this key is the same participant, and no longer waits. An unknown key creates a new participant.",
          "call.participants.recording_consent": `Whether the participant agrees to the recording. Null or omitted: there is no new decision; until the first decision, the participant counts as not asked. Recordings of a call can be read only while this is true for all its participants. The service keeps every decision, and the latest counts. After ${MAX_CONSENT_DECISIONS} decisions of a participant, it accepts only a refusal.`,
          "call.participants.recording_consent_at":
            "When the participant made this decision. Send it whenever you know it, so that you can repeat a report safely. Without it, every report of a refusal is a new decision made at `reported_at`. A consent without it is a new decision only if it differs from the last decision that you reported, and it counts from when the participant joined. So only a consent with a later time here restores consent after it was withdrawn. A time in the future counts as now; for a consent, it must not be more than a minute ahead, but a refusal is never refused for its time. Ignored without `recording_consent`.",
          "call.participants.recording_consent_method":
            "How the participant expressed the decision, for example `verbal` or `form`. Ignored without `recording_consent`.",
          "call.organization_user_id":
            "The organization user who holds the call: the `id` of a user of the organization. A later report can correct it.",
          "call.started_at": "When the call started. A later report can correct it.",
          "call.ended_at":
            "When the call ended. Null, or omitted from the first report: it is going on. A later report can correct the time, but null does not reopen an ended call.",
          "call.external_reference":
            "Your own id for the visit, such as its number in the organization's records. It is compared exactly, and several calls can have the same reference. Null clears it. Once the organization has changed it, reports no longer do. Once the names of the call's participants are erased, it is ignored.",
          "call.legal_hold":
            "True begins a legal hold without a reason, unless one is running; a running hold of the organization becomes the platform's. False and null change nothing: only `DELETE /organizations/{organization_id}/calls/{key}/legal_hold` ends a hold.",
        },
        examples: {
          "A call begins": {
            call: {
              external_reference: story.HELD_VISIT_REFERENCE,
              waiting_room_slug: story.CARDIOLOGY.slug,
              organization_user_id: story.PAULA.id,
              started_at: story.STARTED_AT,
              participants: [
                {
                  ...withoutId(story.RITAS_PARTICIPANT),
                  role: "recipient",
                  external_reference: story.RITAS_REFERENCE,
                  waiting_since: story.WAITING_SINCE,
                  joined_at: story.STARTED_AT,
                  recording_consent: true,
                },
                {
                  ...withoutId(story.PAULAS_PARTICIPANT),
                  role: "provider",
                  user_id: story.PAULA.user_id,
                  joined_at: story.STARTED_AT,
                  recording_consent: true,
                },
              ],
            },
          },
          "A participant withdraws consent": {
            call: {
              participants: [
                {
                  key: story.RITAS_PARTICIPANT.key,
                  left_at: "2026-01-31T09:44:30Z",
                  recording_consent: false,
                  recording_consent_at: story.WITHDRAWN_AT,
                  recording_consent_method: "verbal",
                },
              ],
            },
          },
          "The call ends": {
            call: { ended_at: story.ENDED_AT, failed: false },
            reported_at: "2026-01-31T09:45:01Z",
          },
          "A legal hold begins": { call: { legal_hold: true } },
        },
      },
      response: reportedCall,
      errors: [
        organizationNotFound(),
        refusals.callNamesNoRoom(),
        refusals.callNamesUnknownRoom(),
        refusals.callIncomplete(),
        refusals.callOwnerNotMember(),
        refusals.callEndsTooEarly("started_at"),
        refusals.callEndsTooEarly("ended_at"),
        invalidBody(`call.participants.1.key: ${refusals.PARTICIPANT_REPEATED}`),
        participants.newParticipantIncomplete(0),
        participants.participantOnCallNotMember(0),
        participants.participantOnAnotherCall(0),
        participants.participantLeftTooEarly(0),
        tooManyDecisions(),
      ],
    },
  },
};

function withoutId({ key, display_name }: typeof story.RITAS_PARTICIPANT) {
  return { key, display_name };
}
