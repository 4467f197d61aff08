import * as z from "zod";
import { byDate } from "../../organization/metrics/metrics.ts";

export const callMetricsSchema = z
  .object({
    total_calls: byDate(z.int().min(1)).meta({
      description: "The number of calls that started on the date, including those that are still going on.",
      example: { "2026-01-30": 8, "2026-01-31": 1 },
    }),
    average_duration: byDate(z.number().min(0)).meta({
      description:
        "The average duration in seconds of the calls that ended, including failed calls; 0 if there are none. A call whose end was not reported does not count here.",
      example: { "2026-01-30": 912.5, "2026-01-31": 900 },
    }),
    call_fail_rate: byDate(z.number().min(0).max(1)).meta({
      description: "The fraction of calls that failed, from 0 to 1: 0.125 is 12.5 percent.",
      example: { "2026-01-30": 0.125, "2026-01-31": 0 },
    }),
    average_wait_time: byDate(z.number().min(0)).meta({
      description:
        "The average time in seconds from when recipients began to wait until their call started; 0 if nobody waited. A recipient who began to wait after the start counts as 0 seconds. A recipient who did not wait does not count.",
      example: { "2026-01-30": 95.25, "2026-01-31": 300 },
    }),
  })
  .meta({
    id: "CallMetrics",
    description:
      "Four maps from date (`YYYY-MM-DD`) to value. A call counts on the date on which it started. All four maps have the same dates, in ascending order; dates without calls are absent. Values are not rounded.",
  });
