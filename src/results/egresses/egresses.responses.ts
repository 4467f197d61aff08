import * as z from "zod";
import { EGRESS_DELETED, EGRESS_STATUSES } from "../../database/enums.ts";
import { id, key, timestamp } from "../../http/wire.ts";
import { RECORDING_URL_LIFETIME } from "../../lifetimes.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { egressError } from "./egresses.schemas.ts";

/** An open set, so not an enum. */
export const egressStatus = () =>
  z
    .string()
    .max(50)
    .regex(/^egress_[a-z_]+$/)
    // The first is shown in whole examples, of a recording that has ended.
    .meta({ examples: [...EGRESS_STATUSES.toReversed(), EGRESS_DELETED] });

export const egressSchema = named("Egress", "The recording of a call.", {
  id: field(id(), "The id of the egress, for use in paths of the external API.", story.EGRESS.id),
  egress_id: field(key(), "The recording backend's id of the egress.", story.EGRESS.egress_id),
  status: egressStatus().describe(
    "The progress of the recording: `egress_starting`, `egress_active`, `egress_ending`, `egress_ended`. It goes through these values in order, can skip some, and never goes back. A failed recording is also `egress_ended`, and `error` says why it failed. `egress_deleted` means that the file was deleted. More values may be added.",
  ),
  error: egressError().meta({
    description: "Why the recording failed, as reported by the recording backend; null if it did not fail.",
    example: null,
  }),
  is_stopped: z.boolean().meta({
    description:
      "Whether the recording was stopped. Always true once the recording has ended or its file was deleted.",
    example: true,
  }),
  ended_at: field(timestamp().nullable(), "When the recording ended; null until then.", story.ENDED_AT),
  started_at: timestamp().nullable().meta({
    description: "When the file begins; null if unknown. The recording process starts slightly earlier.",
    example: story.RECORDED_FILE.started_at,
  }),
  duration: z.number().min(0).nullable().meta({
    description: "The playing time of the file in seconds, with up to three decimals; null if unknown.",
    example: story.RECORDED_FILE.duration,
  }),
  size: z.int().min(0).nullable().meta({
    description: "The size of the file in bytes; null if unknown.",
    example: story.RECORDED_FILE.size,
  }),
  created_at: field(timestamp(), "When the egress was first reported.", story.RECORDED_FROM),
  updated_at: timestamp().meta({ description: "When the egress last changed.", example: story.ENDED_AT }),
});

export const listedEgressSchema = egressSchema
  .extend({
    call_id: id().meta({ description: "The call that was recorded.", example: story.CALL.id }),
    organization_user_id: id().meta({
      description:
        "The organization user who holds the call. Together with `call_id`, it forms the path of the recording.",
      example: story.PAULA.id,
    }),
  })
  .meta({ id: "ListedEgress", description: "The recording of a call, with the ids of its path." });

export const egressWithUrlSchema = named("EgressWithUrl", "The recording of a call, with a download URL.", {
  ...egressSchema.shape,
  url: z
    .url()
    // Percent-encoding triples a key's bytes. The rest is for the storage's host and the signature.
    .max(5000)
    .nullable()
    .meta({
      description: `The URL for downloading the file with a GET request, without credentials, within ${RECORDING_URL_LIFETIME / 60} minutes. It is different in every response. null if no file was reported, for example because the recording failed, or if the file was deleted.`,
      example: `https://storage.example.com/recordings/${story.STORAGE_KEY}?X-Amz-Expires=900&response-content-disposition=attachment&x-audit-log-id=73&X-Amz-Date=20260131T100000Z&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=visits%2F20260131%2Fauto%2Fs3%2Faws4_request&X-Amz-SignedHeaders=host&X-Amz-Signature=3f1c0e5b9d8a7c6f4e2d1b0a9f8e7d6c5b4a39281706f5e4d3c2b1a098f7e6d5`,
    }),
});
