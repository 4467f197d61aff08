import * as z from "zod";
import { unprocessable } from "../../http/errors.ts";
import { RECORDING_URL_LIFETIME } from "../../lifetimes.ts";
import { MAX_KEY_LENGTH, MAX_STORAGE_KEY_LENGTH } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { FOR_ADMINISTRATORS_WHO_REACH_IT, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { callNotFound, callUnderLegalHold } from "../calls/calls.refusals.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import {
  egressNamesNoCall,
  egressNotEnded,
  egressNotFound,
  egressOfAnotherCall,
  egressOfUnknownCall,
  egressUserNotMember,
  egressWithoutStatus,
  fileKeptWhileQuiet,
  fileNotDeleted,
  fileNotOfOrganization,
  fileOfAnotherRecording,
  NOT_A_PATH,
  STORAGE_KEY_TOO_LONG,
} from "./egresses.refusals.ts";
import { egressSchema, egressWithUrlSchema } from "./egresses.responses.ts";

const starting = exampleOf(egressSchema);

const { url } = exampleOf(egressWithUrlSchema);

const ended: typeof starting = {
  ...starting,
  status: "egress_ended",
  is_stopped: true,
  ended_at: story.ENDED_AT,
  updated_at: story.ENDED_AT,
};

const failed: typeof starting = {
  ...ended,
  ...story.FAILED_EGRESS,
  error: "Start signal not received",
  ended_at: story.RECORDED_FROM,
  created_at: story.STARTED_AT,
  updated_at: story.RECORDED_FROM,
};

const deleted: typeof starting = {
  ...ended,
  status: "egress_deleted",
  updated_at: story.RECORDING_DELETED_AT,
};

const byId = {
  id: { description: "The `id` of the egress, not its `egress_id`.", example: story.EGRESS.id },
};

const byEgressId = {
  egress_id: {
    description: `The id that the recording backend gave to the egress: 1 to ${MAX_KEY_LENGTH} characters, unique in the organization.`,
    example: story.EGRESS.egress_id,
  },
};

const DELETION =
  "Deletes the file, and those that were reported before for this egress. Then its status becomes `egress_deleted`, with an entry in the audit log; the egress and its audit log stay. The egress and its call must have ended. Repeating the request is no error.";

const KEPT_FOR_NOW =
  "The storage did not delete the file. The service goes on trying every five minutes, unless the call comes under legal hold; the request can be repeated too. Or the database was restored from a backup: then it goes on when the operator resumes the service.";

const deletionErrors = [
  egressNotFound(),
  callUnderLegalHold(),
  egressNotEnded(),
  fileNotDeleted(),
  fileKeptWhileQuiet(),
];

export const egressesReference: Reference = {
  tag: "Egresses",
  description:
    "An egress is the recording of a call. A call can have several: for example, a second one after the first failed. They are available when the call has ended, and only if every participant of the call consented. A participant who was not asked has not consented. If the organization does not keep recordings for good, their files are deleted some days after the call.",
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses": {
      operationId: "listEgresses",
      summary: "List the egresses of a call",
      description: "Ordered by id, without download URLs.",
      response: {
        schema: z.object({
          egresses: z
            .array(egressSchema)
            .describe(
              "All recordings of the call; none if the call has not ended or not every participant consented.",
            ),
        }),
        examples: {
          "A recording that failed, and its repetition": { egresses: [failed, ended] },
          "The call has not ended, was not recorded, or somebody has not consented": { egresses: [] },
        },
      },
      errors: [callNotFound()],
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:id": {
      operationId: "getEgress",
      summary: "Get an egress with a download URL",
      description: `Every request writes a \`read\` entry into the audit log and returns a new URL, which is valid for ${RECORDING_URL_LIFETIME / 60} minutes. The parameter \`x-audit-log-id\` of the URL is the id of the entry.`,
      parameters: byId,
      response: {
        schema: egressWithUrlSchema,
        examples: {
          "A recording": { ...ended, url },
          "A recording that failed has no file": { ...failed, url: null },
          "The file was deleted": { ...deleted, url: null },
        },
      },
      refusals: {
        404: "Something in the path does not exist, the client has no access to it, the call has not ended, or not every participant consented to the recording.",
      },
      errors: [egressNotFound()],
    },
    "DELETE /organization_users/:organization_user_id/calls/:call_id/egresses/:id": {
      operationId: "deleteOwnEgress",
      summary: "Delete a recording",
      description: `${DELETION} Only clients of an organization_admin can do this, also for a recording that nobody may see because somebody did not consent: the event \`egress.started\` has its id.`,
      parameters: byId,
      refusals: { ...FOR_ADMINISTRATORS_WHO_REACH_IT, 503: KEPT_FOR_NOW },
      errors: deletionErrors,
    },
  },
  platform: {
    "PUT /organizations/:organization_id/egresses/:egress_id": {
      operationId: "reportEgress",
      summary: "Report an egress",
      description:
        "The first report creates the egress. It writes an entry into the audit log, and so does every change of what the response shows: a change of only the storage key writes none. A report with an earlier status than the known one is late: it fills in `error` and `storage_key` if they are unknown, and changes nothing else. No report changes an egress whose file was deleted; but if a late one names a file, that file is deleted too.",
      parameters: byEgressId,
      refusals: { 404: "The `egress_id` is blank, too long, or has control characters." },
      request: {
        fields: {
          reported_at:
            "When you knew what this report says: an end without `ended_at` was then. Left out: when it arrives. The order of reports is that of their statuses. At most a minute in the future.",
          "egress.call_key":
            "The key of the call, which must have been reported. The first report needs it. Later ones can leave it out, or name the same call.",
          "egress.storage_key": `The key of the file in the bucket, with at most ${MAX_STORAGE_KEY_LENGTH} bytes in UTF-8, and not blank. Its segments, between slashes, must not be empty, \`.\` or \`..\`, and the first is the organization's slug. \`null\`: there is no file. A file that another one replaces is deleted with the recording. A file that another recording has, or ever had, is refused.`,
          "egress.user_id":
            "The `user_id` of the user who caused the change, for the audit log. It must be a user of the organization. If it is left out or `null`, the log names the service's own user, System.",
          egress: "What is known of the recording. What is left out stays as it was reported before.",
          "egress.status":
            "How far the recording is, in the order of these values. It may skip some, and never goes back. A recording that failed is `egress_ended`, with an `error`. The first report needs it.",
          "egress.is_stopped":
            "Whether the recording was stopped. Without a report of it, it was not. Once it was, it stays so: then false and `null` change nothing. `egress_ended` means true, whatever stands here.",
          "egress.error":
            "Why the recording failed. The external API shows it, so it should name no person. `null`: it did not fail.",
          "egress.ended_at":
            "When the recording ended, with any time zone. Without it, that is when `egress_ended` is first reported. If it is reported before that, it waits, and shows with the end. `null` clears it, but not once the recording has ended.",
        },
        examples: {
          "The first report": {
            egress: { call_key: story.CALL.key, status: "egress_starting", user_id: story.PAULA.user_id },
          },
          "The recording has ended, and its file is in the bucket": {
            egress: {
              status: "egress_ended",
              is_stopped: true,
              ended_at: "2026-01-31T09:45:00Z",
              storage_key: story.STORAGE_KEY,
            },
            reported_at: "2026-01-31T09:45:02Z",
          },
          "Another recording has failed": { egress: { status: "egress_ended", error: failed.error } },
        },
      },
      response: {
        schema: egressSchema,
        examples: {
          "After the first report": starting,
          "The recording has ended": ended,
          "Another recording has failed": failed,
        },
      },
      errors: [
        organizationNotFound(),
        egressNamesNoCall(),
        egressOfUnknownCall(),
        egressOfAnotherCall(),
        egressWithoutStatus(),
        unprocessable(`egress.storage_key: ${NOT_A_PATH}`),
        unprocessable(`egress.storage_key: ${STORAGE_KEY_TOO_LONG}`),
        fileNotOfOrganization(),
        fileOfAnotherRecording(),
        egressUserNotMember(),
      ],
    },
    "DELETE /organizations/:organization_id/egresses/:egress_id": {
      operationId: "deleteEgress",
      summary: "Delete a recording",
      description: DELETION,
      parameters: byEgressId,
      refusals: { 503: KEPT_FOR_NOW },
      errors: [organizationNotFound(), ...deletionErrors],
    },
  },
};
