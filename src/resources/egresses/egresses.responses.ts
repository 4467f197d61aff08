import * as z from "zod";
import { EGRESS_DELETED, EGRESS_STATUSES } from "../../database/enums.ts";
import { MAX_ERROR_LENGTH, RECORDING_URL_LIFETIME } from "../../limits.ts";
import { id, key, longText, timestamp } from "../../openapi/shapes.ts";

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
    id: id().describe("The id of the egress, for use in paths of the external API."),
    egress_id: key().describe("The id that the recording backend gave to the egress."),
    status: egressStatus().describe(
      "How far the recording is: `egress_starting`, `egress_active`, `egress_ending`, `egress_ended`. It goes in this order, may skip some, and never goes back. `egress_ended` is also the status of a recording that failed: then `error` says why. `egress_deleted` means that the file was deleted. There may be more values in the future.",
    ),
    error: longText(MAX_ERROR_LENGTH)
      .nullable()
      .describe("Why the recording failed, in the words of the recording backend; null if it did not fail."),
    is_stopped: z
      .boolean()
      .describe("Whether the recording was stopped. Always true once it has ended, or its file was deleted."),
    ended_at: timestamp().nullable().describe("When the recording ended; null until then."),
    created_at: timestamp().describe("When the egress was first reported."),
    updated_at: timestamp().describe("When the egress last changed."),
  })
  .meta({ id: "Egress", description: "The recording of a call." });

export const egressWithUrlSchema = egressSchema
  .extend({
    url: z
      .url()
      .max(MAX_URL_LENGTH)
      .nullable()
      .describe(
        `Where to download the file with a GET, without any credentials, within ${RECORDING_URL_LIFETIME / 60} minutes. It is different in every response. null while no file was reported, for example because the recording failed, and once the file was deleted.`,
      ),
  })
  .meta({ id: "EgressWithUrl", description: "The recording of a call, with a download URL." });
