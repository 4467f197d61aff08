import { DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { callMetricsSchema } from "./call_metrics.responses.ts";

export const callMetricsReference: Reference = {
  tag: "Call metrics",
  description:
    "Counts and averages of calls by date, for the whole organization or for one user. Every API client of the organization can read them.",
  schemas: {
    CallMetrics: {
      schema: callMetricsSchema,
      description:
        "Four maps from date (`YYYY-MM-DD`) to value. A call counts on the UTC date on which it started. All four maps have the same dates; dates without calls are absent. Values are not rounded.",
      fields: {
        total_calls: "The number of calls that started on the date.",
        average_duration:
          "The average duration in seconds of the calls that ended and did not fail; 0 if there are none.",
        call_fail_rate: "The share of calls that failed, as a fraction from 0 to 1: 0.125 is 12.5 percent.",
        average_wait_time:
          "The average time in seconds that recipients waited before their call started, over all recipients with a `waiting_since`; 0 if there are none. A recipient who came after the start waited 0 seconds.",
      },
    },
  },
  external: {
    "GET /call_metrics": {
      operationId: "getCallMetrics",
      summary: "Get call metrics",
      description: `Dates are in UTC, and both ends of the range are included. Without dates, the range is the last ${DEFAULT_METRICS_DAYS} days up to today. With only \`date_start\`, it runs from there to today. With only \`date_end\`, it is the ${DEFAULT_METRICS_DAYS} days up to that date. A range that is reversed or has more than ${MAX_METRICS_DAYS} days is refused with 400; nothing is cut off.`,
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
