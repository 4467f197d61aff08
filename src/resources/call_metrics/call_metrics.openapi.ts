import { DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { callMetricsSchema } from "./call_metrics.schemas.ts";

export const callMetricsReference: Reference = {
  tag: "Call metrics",
  description: "Counts and averages over the calls of each date, for the organization or for one user.",
  schemas: {
    CallMetrics: {
      schema: callMetricsSchema,
      description:
        "Four maps from date (`YYYY-MM-DD`, in UTC) to value. All have the same dates: those with calls.",
      fields: {
        total_calls: "How many calls started on the date.",
        average_duration:
          "The average duration of a call in seconds, over those that ended and did not fail; 0 where there are none.",
        call_fail_rate: "The share of calls that failed, between 0 and 1: 0.125 is 12.5 percent.",
        average_wait_time:
          "The average time in seconds that recipients waited for the call; 0 where nobody waited.",
      },
    },
  },
  external: {
    "GET /call_metrics": {
      operationId: "getCallMetrics",
      summary: "Get the call metrics",
      description: `Dates are in UTC, and both ends of the range count. Left out, it is the last ${DEFAULT_METRICS_DAYS} days, today included; a start alone runs to today, for ${MAX_METRICS_DAYS} days at most; an end alone takes the ${DEFAULT_METRICS_DAYS} days up to it. A range that is reversed or longer than ${MAX_METRICS_DAYS} days is refused.`,
      status: 200,
      response: {
        schema: callMetricsSchema,
        example: {
          total_calls: { "2026-01-30": 8, "2026-01-31": 3 },
          average_duration: { "2026-01-30": 912.5, "2026-01-31": 640 },
          call_fail_rate: { "2026-01-30": 0.125, "2026-01-31": 0 },
          average_wait_time: { "2026-01-30": 95.25, "2026-01-31": 48 },
        },
      },
      refusals: { 404: "`user_id` is not a user of the organization." },
    },
  },
};
