import { DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { metricsRangeReversed, metricsRangeTooLong, metricsUserNotFound } from "./call_metrics.refusals.ts";
import { callMetricsSchema } from "./call_metrics.responses.ts";

export const callMetricsReference: Reference = {
  tag: "Call metrics",
  description:
    "Counts and averages of calls by date, for the whole organization or for one user. Every API client of the organization can read them.",
  external: {
    "GET /call_metrics": {
      operationId: "getCallMetrics",
      summary: "Get call metrics",
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
          description:
            "Only the calls that this user held count: a `user_id` of `GET /organization_users`. Without it, the calls of the whole organization count.",
          example: String(story.PAULA.user_id),
        },
      },
      response: {
        schema: callMetricsSchema,
        examples: {
          "Two dates with calls": exampleOf(callMetricsSchema),
          "No calls in the range": {
            total_calls: {},
            average_duration: {},
            call_fail_rate: {},
            average_wait_time: {},
          },
        },
      },
      refusals: { 404: "No user of the organization has the `user_id`." },
      errors: [
        metricsRangeReversed(),
        metricsRangeTooLong("date_end"),
        metricsRangeTooLong("today"),
        metricsUserNotFound(),
      ],
    },
  },
};
