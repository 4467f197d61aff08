import type * as z from "zod";
import type { Row } from "../../database/queries.ts";
import type { callMetricsSchema } from "./call_metrics.responses.ts";
import type { dailyMetricsColumns } from "./call_metrics.sql.ts";

type DailyMetrics = Row<typeof dailyMetricsColumns>;

export function toCallMetrics(rows: DailyMetrics[]): z.input<typeof callMetricsSchema> {
  const each = (value: (row: DailyMetrics) => number) =>
    Object.fromEntries(rows.map((row) => [row.date, value(row)]));
  return {
    total_calls: each((row) => row.total_calls),
    average_duration: each((row) => average(row.duration_ms / 1000, row.ended_calls)),
    call_fail_rate: each((row) => average(row.failed_calls, row.total_calls)),
    average_wait_time: each((row) => average(row.wait_ms / 1000, row.waits)),
  };
}

const average = (sum: number, count: number) => (count === 0 ? 0 : sum / count);
