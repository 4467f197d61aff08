import * as z from "zod";
import { MAX_KEY_LENGTH, RECORDING_URL_LIFETIME } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { egressSchema, egressWithUrlSchema } from "./egresses.schemas.ts";

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
  id: "Identifies the egress; the paths take this one.",
  egress_id: "The recording backend's own id.",
  status: "Where the recording stands; a failure shows in `error`.",
  error: "What went wrong; null otherwise.",
  is_stopped: "Whether the recording was stopped.",
  ended_at: "When the recording ended; null before.",
  created_at: "When the egress was first reported.",
  updated_at: "When the egress last changed.",
};

/** Of what the path of an egress names, or does not. */
export const egressMissing =
  "What the path names does not exist, or is not within reach; the call has not ended, or somebody on it did not consent.";

export const egressesReference: Reference = {
  tag: "Egresses",
  description:
    "Recordings of calls. They show once the call has ended, and only where each of its participants consented.",
  schemas: {
    Egress: { schema: egressSchema, description: "The recording of a call.", fields },
    EgressWithUrl: {
      schema: egressWithUrlSchema,
      description: "The recording of a call, ready for download.",
      fields: {
        ...fields,
        url: `Downloads the recording, for ${RECORDING_URL_LIFETIME / 60} minutes; null while there is no file.`,
      },
    },
  },
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses": {
      operationId: "listEgresses",
      summary: "List the egresses of a call",
      description: "None, where the call has not ended or somebody on it did not consent.",
      status: 200,
      response: {
        schema: z.object({ egresses: z.array(egressSchema) }),
        example: { egresses: [egress] },
      },
    },
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:id": {
      operationId: "getEgress",
      summary: "Get an egress, with a download URL",
      description: `Each request is entered in the audit log, and makes a new URL that is valid for ${RECORDING_URL_LIFETIME / 60} minutes.`,
      status: 200,
      response: {
        schema: egressWithUrlSchema,
        example: {
          ...egress,
          url: "https://storage.example.com/recordings/501.mp4?X-Amz-Expires=900&X-Amz-Signature=3f1c",
        },
      },
      refusals: { 404: egressMissing },
    },
  },
  platform: {
    "PUT /egresses/:egress_id": {
      operationId: "reportEgress",
      summary: "Report an egress",
      description:
        "The first report takes `call_key` and `status`. `storage_key` is where the file lies in the bucket, `user_id` who caused what is reported, if anybody did. The first report and each change are entered in the audit log. An ended egress stays ended.",
      status: 200,
      requestExample: {
        egress: {
          call_key: "call-5d20",
          status: "egress_ended",
          is_stopped: true,
          ended_at: "2026-01-31T09:45:00Z",
          storage_key: "501.mp4",
        },
      },
      response: { schema: egressSchema, example: egress },
      refusals: {
        404: `No egress has such an id: it is longer than ${MAX_KEY_LENGTH} characters, or has control characters.`,
        422: "A first report lacks a field, `call_key` names no call or another than the egress's, or `user_id` is not a user of the organization.",
      },
    },
  },
};
