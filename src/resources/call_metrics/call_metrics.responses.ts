import * as z from "zod";

const byDate = (value: z.ZodNumber) => z.record(z.iso.date(), value);

export const callMetricsSchema = z.object({
  total_calls: byDate(z.int()),
  average_duration: byDate(z.number()),
  call_fail_rate: byDate(z.number()),
  average_wait_time: byDate(z.number()),
});
