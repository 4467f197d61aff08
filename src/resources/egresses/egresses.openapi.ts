import * as z from "zod";
import { MAX_KEY_LENGTH, MAX_STORAGE_KEY_LENGTH, RECORDING_URL_LIFETIME } from "../../limits.ts";
import { busyError, type Fields, type Reference } from "../../openapi/operation.ts";
import {
  CALL,
  EGRESS,
  ENDED_AT,
  FAILED_EGRESS,
  PAULA,
  RECORDED_FROM,
  RECORDING_DELETED_AT,
  STARTED_AT,
  STORAGE_KEY,
} from "../../openapi/story.ts";
import { egressSchema, egressWithUrlSchema } from "./egresses.responses.ts";

type Egress = z.input<typeof egressSchema>;

const starting: Egress = {
  ...EGRESS,
  status: "egress_starting",
  error: null,
  is_stopped: false,
  ended_at: null,
  created_at: RECORDED_FROM,
  updated_at: RECORDED_FROM,
};

const ended: Egress = {
  ...starting,
  status: "egress_ended",
  is_stopped: true,
  ended_at: ENDED_AT,
  updated_at: ENDED_AT,
};

const failed: Egress = {
  ...ended,
  ...FAILED_EGRESS,
  error: "Start signal not received",
  ended_at: RECORDED_FROM,
  created_at: STARTED_AT,
  updated_at: RECORDED_FROM,
};

const deleted: Egress = { ...ended, status: "egress_deleted", updated_at: RECORDING_DELETED_AT };

const fields: Fields = {
  egress: "What is known of the recording. What is left out stays as it was reported before.",
  "egress.call_key":
    "The key of the call, which must have been reported. The first report needs it. Later ones can leave it out, or name the same call.",
  "egress.status":
    "How far the recording is, in the order of these values. It may skip some, and never goes back. A recording that failed is `egress_ended`, with an `error`. The first report needs it.",
  "egress.is_stopped":
    "Whether the recording was stopped. Without a report of it, it was not. Once it was, it stays so: then false and `null` change nothing. `egress_ended` means true, whatever stands here.",
  "egress.error":
    "Why the recording failed. The external API shows it, so it should name no person. `null`: it did not fail.",
  "egress.ended_at":
    "When the recording ended, with any time zone. Without it, that is when `egress_ended` is first reported. `null` clears it, but not once the recording has ended.",
  "egress.storage_key": `The key of the file in the bucket, with at most ${MAX_STORAGE_KEY_LENGTH} bytes in UTF-8, and not blank. Its segments, between slashes, must not be empty, \`.\` or \`..\`. \`null\`: there is no file. A file that another one replaces is deleted with the recording.`,
  "egress.user_id":
    "The `user_id` of the user who caused the change, for the audit log. It must be a user of the organization. If it is left out or `null`, the log names the user of an earlier report, else the user who held the call.",
};

const byEgressId = {
  egress_id: {
    description: `The id that the recording backend gave to the egress: 1 to ${MAX_KEY_LENGTH} characters, unique in the service.`,
    example: EGRESS.egress_id,
  },
};

export const egressesReference: Reference = {
  tag: "Egresses",
  description:
    "An egress is the recording of a call. A call can have several: for example, a second one after the first failed. They are available when the call has ended, and only if every participant of the call consented. A participant who was not asked has not consented. If the organization does not keep recordings for good, their files are deleted some days after the call.",
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses": {
      operationId: "listEgresses",
      summary: "List the egresses of a call",
      description: "Ordered by id, without download URLs.",
      status: 200,
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
      errors: { 404: ["Call not found"] },
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:id": {
      operationId: "getEgress",
      summary: "Get an egress with a download URL",
      description: `Every request writes a \`read\` entry into the audit log and returns a new URL, which is valid for ${RECORDING_URL_LIFETIME / 60} minutes. The parameter \`x-audit-log-id\` of the URL is the id of the entry.`,
      status: 200,
      parameters: {
        id: { description: "The `id` of the egress, not its `egress_id`.", example: EGRESS.id },
      },
      response: {
        schema: egressWithUrlSchema,
        examples: {
          "A recording": {
            ...ended,
            url: `https://storage.example.com/recordings/${STORAGE_KEY}?X-Amz-Expires=900&response-content-disposition=attachment&x-audit-log-id=73&X-Amz-Date=20260131T100000Z&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=visits%2F20260131%2Fauto%2Fs3%2Faws4_request&X-Amz-SignedHeaders=host&X-Amz-Signature=3f1c0e5b9d8a7c6f4e2d1b0a9f8e7d6c5b4a39281706f5e4d3c2b1a098f7e6d5`,
          },
          "A recording that failed has no file": { ...failed, url: null },
          "The file was deleted": { ...deleted, url: null },
        },
      },
      refusals: {
        404: "Something in the path does not exist, the client has no access to it, the call has not ended, or not every participant consented to the recording.",
      },
      errors: { 404: ["Egress not found"] },
    },
  },
  platform: {
    "PUT /egresses/:egress_id": {
      operationId: "reportEgress",
      summary: "Report an egress",
      description:
        "The first report creates the egress. It writes an entry into the audit log, and so does every change of what the response shows: a change of only the storage key writes none. A report with an earlier status than the known one is late: it fills in `error` and `storage_key` if they are unknown, and changes nothing else. No report changes an egress whose file was deleted; but if a late one names a file, that file is deleted too.",
      status: 200,
      parameters: byEgressId,
      refusals: { 404: "The `egress_id` is blank, too long, or has control characters." },
      request: {
        fields,
        examples: {
          "The first report": {
            egress: { call_key: CALL.key, status: "egress_starting", user_id: PAULA.user_id },
          },
          "The recording has ended, and its file is in the bucket": {
            egress: {
              status: "egress_ended",
              is_stopped: true,
              ended_at: "2026-01-31T09:45:00Z",
              storage_key: STORAGE_KEY,
            },
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
      errors: {
        422: [
          "egress.call_key: the first report must name a call",
          "egress.call_key: there is no such call",
          "egress.call_key: the egress belongs to another call",
          "egress.status: is required in the first report",
          "egress.storage_key: must be a path without empty, . and .. segments",
          `egress.storage_key: must have at most ${MAX_STORAGE_KEY_LENGTH} bytes in UTF-8`,
          "egress.user_id: is not a user of the organization",
        ],
        503: [busyError],
      },
    },
    "DELETE /egresses/:egress_id": {
      operationId: "deleteEgress",
      summary: "Delete a recording",
      description:
        "Deletes the file. Then the status of the egress becomes `egress_deleted`, with an entry in the audit log; the egress and its audit log stay. A file that another egress names too is only deleted with the last of them. Repeating the request is no error.",
      status: 204,
      parameters: byEgressId,
      refusals: {
        503: "The storage did not delete the file. The service goes on trying every five minutes, unless the call comes under legal hold; the request can be repeated too.",
      },
      errors: {
        404: ["Egress not found"],
        422: [
          "The call is under legal hold: end the hold first",
          "The egress has not ended: report its end first",
        ],
        503: ["The file could not be deleted now: the service goes on trying"],
      },
    },
  },
};
