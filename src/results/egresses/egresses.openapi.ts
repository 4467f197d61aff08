import * as z from "zod";
import { callNotFound, callUnderLegalHold } from "../../calls/calls/calls.refusals.ts";
import { invalidBody } from "../../http/errors.ts";
import { id } from "../../http/wire.ts";
import { RECORDING_URL_LIFETIME } from "../../lifetimes.ts";
import * as limits from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { dates, listResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { organizationNotFound } from "../../organization/organizations/organizations.refusals.ts";
import { grouped } from "../../units.ts";
import * as refusals from "./egresses.refusals.ts";
import { egressSchema, egressWithUrlSchema, listedEgressSchema } from "./egresses.responses.ts";

const ended = exampleOf(egressSchema);

const NO_FILE = { started_at: null, duration: null, size: null };

const starting: typeof ended = {
  ...ended,
  ...NO_FILE,
  status: "egress_starting",
  is_stopped: false,
  ended_at: null,
  updated_at: ended.created_at,
};

const failed: typeof ended = {
  ...ended,
  ...NO_FILE,
  ...story.FAILED_EGRESS,
  error: "Start signal not received",
  ended_at: story.RECORDED_FROM,
  created_at: story.STARTED_AT,
  updated_at: story.RECORDED_FROM,
};

const DELETION =
  "Deletes all files of the recording: the downloadable file, files reported earlier, and LiveKit's playlists and manifest. The status then becomes `egress_deleted`, with an entry in the audit log; the egress and its audit log are kept. The egress and its call must have ended. Repeating the request is not an error.";

const KEPT_FOR_NOW =
  "Either the storage did not delete the file: the service retries every five minutes unless the call comes under legal hold, and you can also repeat the request. Or the database was restored from a backup: the deletion continues when the operator resumes the service.";

const deletionErrors = [
  refusals.egressNotFound(),
  callUnderLegalHold(),
  refusals.egressNotEnded(),
  refusals.fileNotDeleted(),
  refusals.fileKeptWhileQuiet(),
];

export const egressesReference: Reference = {
  tag: "Egresses",
  parameters: {
    id: { description: "The `id` of the egress, not its `egress_id`.", example: story.EGRESS.id },

    egress_id: {
      description: `The recording backend's id of the egress: 1 to ${limits.MAX_KEY_LENGTH} characters, unique in the organization.`,
      example: story.EGRESS.egress_id,
    },
  },
  description:
    "An egress is the recording of a call. A call can have several, for example a second one after the first failed. They are available once the call has ended, and only if every participant of the call consented. A participant who was not asked has not consented. Unless the organization keeps recordings forever, their files are deleted a number of days after the call.",
  external: {
    "GET /egresses": {
      operationId: "findEgresses",
      summary: "List the recordings of all calls you have access to",
      description: `Lists the visible recordings of all calls that the client has access to, ordered by id and without download URLs. Use it to copy recordings into an archive. A recording becomes visible once its call has ended and every participant has consented, so it can appear before recordings that you have already listed: list the most recent days again. To read all recordings, repeat the request with \`next_after\` as \`after\` until \`next_after\` is null. Each request scans up to ${grouped(limits.EGRESSES_LOOKED_THROUGH)} recordings, so a page can be empty although more follow. The access log records the request.`,
      parameters: {
        ...dates("recordings of calls that started"),
        after: {
          description:
            "Only recordings with a higher id: the `next_after` of the previous response. Without it, the list begins with the first recording.",
          example: story.FAILED_EGRESS.id,
        },
      },
      response: {
        schema: z.object({
          egresses: z
            .array(listedEgressSchema)
            .max(limits.MAX_PER_PAGE)
            .describe("The next recordings, ordered by id."),
          next_after: id()
            .nullable()
            .describe(
              "The `after` for the next request; null at the end. A page can be empty although more pages follow.",
            ),
        }),
      },
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses": {
      operationId: "listEgresses",
      summary: "List the egresses of a call",
      description: "Ordered by id, without download URLs.",
      response: {
        ...listResponse(
          "egresses",
          egressSchema,
          "All recordings of the call. Empty if the call has not ended or not every participant consented.",
        ),
        example: { egresses: [failed, ended] },
      },
      errors: [callNotFound()],
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:id": {
      operationId: "getEgress",
      summary: "Get an egress with a download URL",
      description: `Every request writes a \`read\` entry into the audit log and returns a new URL, which is valid for ${RECORDING_URL_LIFETIME / 60} minutes. The URL's \`x-audit-log-id\` parameter is the id of the entry.`,
      response: { schema: egressWithUrlSchema },
      refusals: {
        404: "Something in the path does not exist, the client has no access to it, the call has not ended, or not every participant consented to the recording.",
      },
      errors: [refusals.egressNotFound()],
    },
    "DELETE /organization_users/:organization_user_id/calls/:call_id/egresses/:id": {
      operationId: "deleteOwnEgress",
      summary: "Delete a recording",
      description: `${DELETION} It also works for a recording that is not visible because a participant did not consent: the \`egress.started\` event has its id.`,
      refusals: { 503: KEPT_FOR_NOW },
      errors: deletionErrors,
    },
  },
  platform: {
    "PUT /organizations/:organization_id/egresses/:egress_id": {
      operationId: "reportEgress",
      summary: "Report an egress",
      description:
        "The first report creates the egress and writes an entry into the audit log, as does every later change of a field that the audit log shows. A change of only the file (`storage_key`, `started_at`, `duration` and `size`) writes no entry. A report with an earlier status than the known one is late: it only fills in `error` and the fields of the file if they are unknown. No report changes an egress whose file was deleted, but if a late report names a file, that file is deleted too.",
      refusals: { 404: "The `egress_id` is blank, too long, or has control characters." },
      request: {
        fields: {
          reported_at:
            "When the information in this report was current. It is the time of an end without `ended_at`. Defaults to the time of arrival. Reports are ordered by their statuses, not by this time. At most a minute in the future.",
          "egress.call_key":
            "The key of the call, which must already have been reported. Required in the first report. Later reports can omit it or name the same call.",
          "egress.storage_key": `The key of the file in the bucket: at most ${grouped(limits.MAX_STORAGE_KEY_LENGTH)} bytes in UTF-8, and not blank. Its segments, separated by slashes, must not be empty, \`.\` or \`..\`, and the first must be the organization's slug. \`null\` if there is no file. A file that you replace with another one is deleted with the recording. A file that another recording has or once had is refused.`,
          "egress.started_at":
            "When the file begins, in any time zone. `null` if unknown. At most a minute in the future.",
          "egress.duration": `The playing time of the file in seconds, rounded to milliseconds; at most ${grouped(limits.MAX_RECORDING_DURATION)}. \`null\` if unknown.`,
          "egress.size": "The size of the file in bytes. `null` if unknown.",
          "egress.user_id":
            "The `user_id` of the user who caused the change, for the audit log. It must be a user of the organization. If omitted or `null`, the log names the service's own user, System.",
          egress: "The known fields of the recording. Omitted fields keep their reported values.",
          "egress.status":
            "The progress of the recording, in the order of these values. It can skip values but never goes back. A failed recording is `egress_ended`, with an `error`. Required in the first report.",
          "egress.is_stopped":
            "Whether the recording was stopped. Defaults to false. Once it is true, it stays true, and false and `null` change nothing. With `egress_ended` it is always true, whatever you send.",
          "egress.error":
            "Why the recording failed. The external API shows it, so it should not name a person. `null` if it did not fail.",
          "egress.ended_at":
            "When the recording ended, in any time zone. Defaults to the first report of `egress_ended`. A time that is reported earlier only appears once the recording has ended. `null` clears the time unless the recording has ended.",
        },
        examples: {
          "The first report": {
            egress: { call_key: story.CALL.key, status: "egress_starting", user_id: story.PAULA.user_id },
          },
          "The recording has ended and its file is in the bucket": {
            egress: {
              status: "egress_ended",
              is_stopped: true,
              ended_at: "2026-01-31T09:45:00Z",
              storage_key: story.STORAGE_KEY,
              ...story.RECORDED_FILE,
            },
            reported_at: "2026-01-31T09:45:02Z",
          },
          "Another recording has failed": { egress: { status: "egress_ended", error: failed.error } },
        },
      },
      response: {
        schema: egressSchema,
        examples: { "After the first report": starting, "The recording has ended": ended },
      },
      errors: [
        organizationNotFound(),
        refusals.egressNamesNoCall(),
        refusals.egressOfUnknownCall(),
        refusals.egressOfAnotherCall(),
        refusals.egressWithoutStatus(),
        invalidBody(`egress.storage_key: ${refusals.NOT_A_PATH}`),
        invalidBody(`egress.storage_key: ${refusals.STORAGE_KEY_TOO_LONG}`),
        refusals.fileNotOfOrganization(),
        refusals.fileOfAnotherRecording(),
        refusals.egressUserNotMember(),
      ],
    },
    "DELETE /organizations/:organization_id/egresses/:egress_id": {
      operationId: "deleteEgress",
      summary: "Delete a recording",
      description: DELETION,
      refusals: { 503: KEPT_FOR_NOW },
      errors: [organizationNotFound(), ...deletionErrors],
    },
  },
};
