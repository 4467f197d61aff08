import type { z } from "zod";
import { DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../../limits.ts";
import * as story from "../../openapi/story.ts";
import { grouped } from "../../units.ts";
import { metricsRangeReversed, metricsRangeTooLong, metricsUserNotFound } from "./metrics.ts";

/**
 * The parts that all metrics operations share.
 *
 * @param of the counted things, such as `calls`
 */
export const metricsOperation = <Schema extends z.ZodObject>(of: string, schema: Schema) => ({
  description: `The range includes both dates. Without dates, it covers the last ${DEFAULT_METRICS_DAYS} days up to today. It can have up to ${grouped(MAX_METRICS_DAYS)} days.`,
  parameters: {
    date_start: {
      description: `The first date of the range, in UTC. If omitted, the range has ${DEFAULT_METRICS_DAYS} days.`,
      example: "2026-01-01",
    },
    date_end: {
      description:
        "The last date of the range, in UTC. If omitted, the range ends today, or on `date_start` if that is later.",
      example: "2026-01-31",
    },
    user_id: {
      description: `Counts only the ${of} that this user holds: a \`user_id\` from \`GET /organization_users\`. If omitted, the ${of} of the whole organization count.`,
      example: String(story.PAULA.user_id),
    },
  },
  response: { schema },
  refusals: { 404: "No user of the organization has this `user_id`." },
  errors: [
    metricsRangeReversed(),
    metricsRangeTooLong("date_end"),
    metricsRangeTooLong("today"),
    metricsUserNotFound(),
  ],
});
