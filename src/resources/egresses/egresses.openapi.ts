import * as z from "zod";
import { MAX_KEY_LENGTH, RECORDING_URL_LIFETIME } from "../../limits.ts";
import { busy, type Reference } from "../../openapi/operation.ts";
import { egressSchema, egressWithUrlSchema } from "./egresses.responses.ts";

const egress: z.input<typeof egressSchema> = {
  id: 61,
  egress_id: "EG_7fK2mQ9x",
  status: "egress_ended",
  error: null,
  is_stopped: true,
  ended_at: "2026-01-31T09:45:00.000Z",
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:45:00.000Z",
};

const fields = {
  id: "The id of the egress, for use in paths.",
  egress_id: "The id that the recording backend gave to the egress.",
  status:
    "The state of the recording. It goes from `egress_starting` over `egress_active` and `egress_ending` to `egress_ended`, and may skip some of them; `egress_deleted` means that the file was deleted. More values may be added. If the recording failed, `error` says why.",
  error: "Why the recording failed; null if it did not.",
  is_stopped: "Whether the recording was stopped; always true once it has ended.",
  ended_at: "When the recording ended; null until then.",
  created_at: "When the egress was first reported.",
  updated_at: "When the egress last changed.",
};

export const egressesReference: Reference = {
  tag: "Egresses",
  description:
    "Recordings of calls. They are available when the call has ended, and only if every participant of the call consented. A participant who was not asked has not consented. If the organization does not keep recordings for good, their files are deleted some days after the call.",
  schemas: {
    Egress: { schema: egressSchema, description: "The recording of a call.", fields },
    EgressWithUrl: {
      schema: egressWithUrlSchema,
      description: "The recording of a call, with a download URL.",
      fields: {
        ...fields,
        url: `The download URL, valid for ${RECORDING_URL_LIFETIME / 60} minutes; null while there is no file, and once the file was deleted.`,
      },
    },
  },
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses": {
      operationId: "listEgresses",
      summary: "List the egresses of a call",
      description:
        "The list is empty if the call has not ended or not every participant consented to the recording.",
      status: 200,
      response: {
        schema: z.object({ egresses: z.array(egressSchema) }),
        example: { egresses: [egress] },
      },
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:id": {
      operationId: "getEgress",
      summary: "Get an egress with a download URL",
      description: `Every request writes a \`read\` entry into the audit log and returns a new URL, which is valid for ${RECORDING_URL_LIFETIME / 60} minutes. The parameter \`x-audit-log-id\` of the URL is the id of the entry.`,
      status: 200,
      response: {
        schema: egressWithUrlSchema,
        example: {
          ...egress,
          url: "https://storage.example.com/recordings/501.mp4?X-Amz-Expires=900&x-audit-log-id=73&X-Amz-Signature=3f1c",
        },
      },
      refusals: {
        404: "Something in the path does not exist, the client has no access to it, the call has not ended, or not every participant consented to the recording.",
      },
    },
  },
  platform: {
    "PUT /egresses/:egress_id": {
      operationId: "reportEgress",
      summary: "Report an egress",
      description:
        "The first report needs `call_key` and `status`. `storage_key` is the key of the file in the bucket. `user_id` is the user who caused the reported change. If it is null or left out, the audit log names the user of an earlier report, else the user who held the call. The first report and every change write an entry into the audit log; a change of only the storage key writes none. The status goes from `egress_starting` over `egress_active` and `egress_ending` to `egress_ended`, may skip some of them, and never goes back. An ended egress is stopped, and ended at the time of the report if no report gives `ended_at`. A report with an earlier status than the known one is late: it fills in `error` and `storage_key` if they are unknown, and changes nothing else. No report changes an egress whose file was deleted; but if a late one names a file, that file is deleted too.",
      status: 200,
      request: {
        fields: {},
        example: {
          egress: {
            call_key: "call-5d20",
            status: "egress_ended",
            is_stopped: true,
            ended_at: "2026-01-31T09:45:00Z",
            storage_key: "501.mp4",
          },
        },
      },
      response: { schema: egressSchema, example: egress },
      refusals: {
        404: `The id cannot exist: it is longer than ${MAX_KEY_LENGTH} characters or contains control characters.`,
        422: "A first report lacks a field, `call_key` is unknown or is not the call of the egress, or `user_id` is not a user of the organization.",
        503: busy,
      },
    },
    "DELETE /egresses/:egress_id": {
      operationId: "deleteEgress",
      summary: "Delete a recording",
      description:
        "Deletes the file. Then the status of the egress becomes `egress_deleted`, with an entry in the audit log; the egress and its audit log stay. A file that another egress names too is only deleted with the last of them. Repeating the request is no error.",
      status: 204,
      refusals: {
        404: "The egress does not exist.",
        422: "The call is under legal hold, or the egress has not ended.",
        503: "The storage did not delete the file. The service goes on trying every five minutes, unless the call comes under legal hold; the request can be repeated too.",
      },
    },
  },
};
