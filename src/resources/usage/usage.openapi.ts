import { FROM_AFTER_TO } from "../../http/dates.ts";
import { ApiError } from "../../http/errors.ts";
import {
  CLIENT_SHARE,
  DEFAULT_METRICS_DAYS,
  MAX_DAILY_ACCESS_LOGS,
  MAX_DAILY_WRITES,
  MAX_WAITING_ROOMS,
  WRITE_SIZE,
} from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { usageRangeTooLong } from "./usage.refusals.ts";
import { usageOfDatesSchema, usageSchema } from "./usage.responses.ts";

export const usageReference: Reference = {
  tag: "Usage",
  description: `What an organization stores is bounded, so that one cannot fill the database of all: in a UTC day, its API clients can write ${MAX_DAILY_WRITES} times (a request counts once for each ${WRITE_SIZE / 1024} KiB of its body), and its access log gets at most ${MAX_DAILY_ACCESS_LOGS} entries of theirs; one client may use at most ${CLIENT_SHARE * 100} percent of both. Signing in, legal holds, taking rights away, deleting, and reading the access log are never refused for that. An organization can make ${MAX_WAITING_ROOMS} waiting rooms.`,
  platform: {
    "GET /organizations/:organization_id/usage": {
      operationId: "listUsage",
      summary: "List what an organization stored",
      description: `Both ends of the range are included. Without dates, it is the last ${DEFAULT_METRICS_DAYS} days up to today.`,
      parameters: {
        from: { description: "The first UTC date.", example: "2026-01-01" },
        to: {
          description: "The last UTC date. Left out: today.",
          example: "2026-01-31",
        },
      },
      response: {
        schema: usageOfDatesSchema,
        examples: {
          "A date": { usage: [exampleOf(usageSchema)] },
          "Nothing was stored": { usage: [] },
        },
      },
      errors: [new ApiError(400, `from: ${FROM_AFTER_TO}`), usageRangeTooLong(), organizationNotFound()],
    },
  },
};
