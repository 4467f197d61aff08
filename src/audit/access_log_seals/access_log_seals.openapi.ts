import * as z from "zod";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { fileUnavailable, sealedDayNotFound } from "./access_log_seals.refusals.ts";
import { accessLogSealsSchema, sealedFileSchema } from "./access_log_seals.responses.ts";

export const accessLogSealsReference: Reference = {
  tag: "Access log seals",
  description: `A day of the access log is sealed an hour after it ends: its entries are written to a file that never changes, and a signed seal states what the file contains. Each seal contains the digest of the previous one, so the newest seal vouches for the whole log: an entry that is changed, removed or added later breaks the chain. The event \`access_log.sealed\` delivers the digest of each new seal: keep it where nobody who runs the service can change it. The guide to checking the log shows how to verify all this. Only an organization_admin can read seals and files.`,
  external: {
    "GET /access_log_seals": {
      operationId: "listAccessLogSeals",
      summary: "List the seals of the access log",
      description:
        "Oldest first. To read all seals, repeat the request with `next_after` as `after`. The access log does not record reads of this list.",
      parameters: {
        after: {
          description:
            "Only seals whose `last_id` is higher: the `next_after` of the previous response. Without it, the list begins with the first seal.",
          example: story.SEAL_BEFORE.first_id - 1,
        },
      },
      response: {
        schema: accessLogSealsSchema,
        example: { access_log_seals: [story.SEAL_BEFORE, story.SEAL], next_after: story.SEAL.last_id },
      },
    },
    "GET /access_logs/:date": {
      operationId: "getSealedAccessLog",
      summary: "Download a sealed day of the access log",
      description:
        "The day's entries as gzipped NDJSON. The response is a .gz file without `Content-Encoding`: unpack it yourself. The access log records each download.",
      parameters: { date: { description: "The UTC date of a seal.", example: story.SEAL.date } },
      alternatives: { "application/gzip": { schema: sealedFileSchema, example: "" } },
      headers: {
        "Content-Disposition": {
          description: "The suggested file name.",
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
        404: "The day is not sealed, it had no entries, or its file is no longer kept.",
        503: "The file cannot be read at the moment.",
      },
      errors: [sealedDayNotFound(), fileUnavailable()],
    },
  },
};
