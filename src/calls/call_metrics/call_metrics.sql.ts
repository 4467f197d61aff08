import { dailyMetricsOf } from "../../organization/metrics/metrics.sql.ts";
import { callDailyMetrics } from "./call_metrics.table.ts";

const { total_calls, failed_calls, ended_calls, duration_ms, waits, wait_ms } = callDailyMetrics;

export const dailyMetrics = dailyMetricsOf(callDailyMetrics, {
  total_calls,
  failed_calls,
  ended_calls,
  duration_ms,
  waits,
  wait_ms,
});
