import type * as z from "zod";
import { externalRoutes } from "../../http/hono.ts";
import { readsFrom } from "../../http/replication.ts";
import { area } from "../../http/scopes.ts";
import { query } from "../../http/validation.ts";
import type { Day } from "../../organization/metrics/local_days.ts";
import { dailyMetricsOf } from "../../organization/metrics/metrics.sql.ts";
import { metricsQuery, readMetrics } from "../../organization/metrics/metrics.ts";
import type { callMetricsSchema } from "./call_metrics.responses.ts";
import { callDailyMetrics } from "./call_metrics.table.ts";

const dailyMetrics = dailyMetricsOf(callDailyMetrics);

function toCallMetrics(rows: Day<(typeof dailyMetrics.counts)[number]>[]): z.input<typeof callMetricsSchema> {
  const each = (value: (row: (typeof rows)[number]) => number) =>
    Object.fromEntries(rows.map((row) => [row.date, value(row)]));
  return {
    total_calls: each((row) => row.total_calls),
    average_duration: each((row) => average(row.duration_ms / 1000, row.ended_calls)),
    call_fail_rate: each((row) => average(row.failed_calls, row.total_calls)),
    average_wait_time: each((row) => average(row.wait_ms / 1000, row.waits)),
  };
}

const average = (sum: number, count: number) => (count === 0 ? 0 : sum / count);

export const callMetricsExternal = externalRoutes().get(
  "/call_metrics",
  area("calls"),
  readsFrom("nearest"),
  query(metricsQuery),
  async (c) => c.json(toCallMetrics(await readMetrics(c.var.context, c.req.valid("query"), dailyMetrics))),
);
