import * as z from "zod";
import { FOR_ADMINISTRATORS, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { fileUnavailable, sealedDayNotFound, sealsNotFound } from "./access_log_seals.refusals.ts";
import { accessLogSealsSchema, sealedFileSchema } from "./access_log_seals.responses.ts";

export const accessLogSealsReference: Reference = {
  tag: "Access log seals",
  description: `A day of the access log is sealed an hour after it is over: its entries become a file that is never changed, and a signed seal says what the file holds. Each seal names the digest of the one before, so the newest one stands for the whole log: an entry that is changed, removed or added later does not fit any more. The event \`access_log.sealed\` brings the digest of each new seal: keep it where nobody who runs the service can change it. "Check the log yourself" says how to verify all that. Only an organization_admin can read seals and files.`,
  external: {
    "GET /access_log_seals": {
      operationId: "listAccessLogSeals",
      summary: "List the seals of the access log",
      description:
        "Oldest first. To read all seals, ask again with `next_after` as `after`. This list is not recorded in the access log.",
      parameters: {
        after: {
          description:
            "Only seals whose `last_id` is higher: the `next_after` of the response before. Without it, the list begins with the first seal.",
          example: story.SEAL_BEFORE.first_id - 1,
        },
      },
      response: {
        schema: accessLogSealsSchema,
        examples: {
          "Two days": { access_log_seals: [story.SEAL_BEFORE, story.SEAL], next_after: story.SEAL.last_id },
          "No day has been sealed since": { access_log_seals: [], next_after: story.SEAL.last_id },
        },
      },
      refusals: FOR_ADMINISTRATORS,
      errors: [sealsNotFound()],
    },
    "GET /access_logs/:date": {
      operationId: "getSealedAccessLog",
      summary: "Download a sealed day of the access log",
      description:
        "The entries of the day as gzipped NDJSON. The response is a .gz file without `Content-Encoding`: unpack it yourself. Each download is recorded in the access log.",
      parameters: {
        date: { description: "The UTC date of a seal.", example: story.SEAL.date },
      },
      alternatives: { "application/gzip": { schema: sealedFileSchema, example: "" } },
      headers: {
        "Content-Disposition": {
          description: "The name under which to store the file.",
          example: `attachment; filename="access-log-${story.SEAL.date}.ndjson.gz"`,
          schema: z
            .string()
            .max(100)
            .regex(/^attachment; filename="access-log-\d{4}-\d{2}-\d{2}\.ndjson\.gz"$/),
          required: true,
        },
        "Content-Length": {
          description: "The size of the file in bytes.",
          example: 6417,
          schema: z.int().min(1),
        },
      },
      refusals: {
        404: "The day is not sealed, it had no entries, its file is no longer kept, or the client does not act as an organization_admin.",
        503: "The file cannot be read at the moment.",
      },
      errors: [sealedDayNotFound(), fileUnavailable()],
    },
  },
};
