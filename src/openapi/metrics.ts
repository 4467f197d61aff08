import type { z } from "zod";
import { metricsRangeReversed, metricsRangeTooLong, metricsUserNotFound } from "../http/metrics.ts";
import { DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../limits.ts";
import { exampleOf } from "./examples.ts";
import * as story from "./story.ts";

/**
 * What the reads of metrics have in common.
 *
 * @param of what is counted, such as `calls`
 */
export const metricsOperation = <Schema extends z.ZodObject>(of: string, schema: Schema) => ({
  description: `Both ends of the range are included. Without dates, it is the last ${DEFAULT_METRICS_DAYS} days up to today. It can have up to ${MAX_METRICS_DAYS} days.`,
  parameters: {
    date_start: {
      description: `The first date of the range, in UTC. Without it, the range has ${DEFAULT_METRICS_DAYS} days.`,
      example: "2026-01-01",
    },
    date_end: {
      description:
        "The last date of the range, in UTC. Without it, the range ends today, or, if it starts later, on that date.",
      example: "2026-01-31",
    },
    user_id: {
      description: `Only the ${of} that this user holds count: a \`user_id\` of \`GET /organization_users\`. Without it, the ${of} of the whole organization count.`,
      example: String(story.PAULA.user_id),
    },
  },
  response: {
    schema,
    examples: {
      [`Two dates with ${of}`]: exampleOf(schema),
      [`No ${of} in the range`]: Object.fromEntries(Object.keys(schema.shape).map((map) => [map, {}])),
    },
  },
  refusals: { 404: "No user of the organization has the `user_id`." },
  errors: [
    metricsRangeReversed(),
    metricsRangeTooLong("date_end"),
    metricsRangeTooLong("today"),
    metricsUserNotFound(),
  ],
});
