import * as z from "zod";
import { EGRESS_DELETED, EGRESS_STATUSES } from "../../database/enums.ts";
import { id, key, timestamp } from "../../http/wire.ts";
import { RECORDING_URL_LIFETIME } from "../../lifetimes.ts";
import * as story from "../../openapi/story.ts";
import { egressError } from "./egresses.fields.ts";

/** The set of statuses is open. */
export const egressStatus = () =>
  z
    .string()
    .max(50)
    .regex(/^egress_[a-z_]+$/)
    .meta({ examples: [...EGRESS_STATUSES, EGRESS_DELETED] });

/** A key whose characters are all encoded has three times its bytes. The rest is the storage's address, and a signature. */
const MAX_URL_LENGTH = 5000;

export const egressSchema = z
  .object({
    id: id().meta({
      description: "The id of the egress, for use in paths of the external API.",
      example: story.EGRESS.id,
    }),
    egress_id: key().meta({
      description: "The id that the recording backend gave to the egress.",
      example: story.EGRESS.egress_id,
    }),
    status: egressStatus().describe(
      "How far the recording is: `egress_starting`, `egress_active`, `egress_ending`, `egress_ended`. It goes in this order, may skip some, and never goes back. `egress_ended` is also the status of a recording that failed: then `error` says why. `egress_deleted` means that the file was deleted. There may be more values in the future.",
    ),
    error: egressError().meta({
      description:
        "Why the recording failed, in the words of the recording backend; null if it did not fail.",
      example: null,
    }),
    is_stopped: z.boolean().meta({
      description:
        "Whether the recording was stopped. Always true once it has ended, or its file was deleted.",
      example: false,
    }),
    ended_at: timestamp().nullable().meta({
      description: "When the recording ended; null until then.",
      example: null,
    }),
    created_at: timestamp().meta({
      description: "When the egress was first reported.",
      example: story.RECORDED_FROM,
    }),
    updated_at: timestamp().meta({
      description: "When the egress last changed.",
      example: story.RECORDED_FROM,
    }),
  })
  .meta({ id: "Egress", description: "The recording of a call." });

export const egressWithUrlSchema = egressSchema
  .extend({
    url: z
      .url()
      .max(MAX_URL_LENGTH)
      .nullable()
      .meta({
        description: `Where to download the file with a GET, without any credentials, within ${RECORDING_URL_LIFETIME / 60} minutes. It is different in every response. null while no file was reported, for example because the recording failed, and once the file was deleted.`,
        example: `https://storage.example.com/recordings/${story.STORAGE_KEY}?X-Amz-Expires=900&response-content-disposition=attachment&x-audit-log-id=73&X-Amz-Date=20260131T100000Z&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=visits%2F20260131%2Fauto%2Fs3%2Faws4_request&X-Amz-SignedHeaders=host&X-Amz-Signature=3f1c0e5b9d8a7c6f4e2d1b0a9f8e7d6c5b4a39281706f5e4d3c2b1a098f7e6d5`,
      }),
  })
  .meta({ id: "EgressWithUrl", description: "The recording of a call, with a download URL." });
