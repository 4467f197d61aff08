import { and, asc, between, gt } from "drizzle-orm";
import type * as z from "zod";
import { hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { externalRoutes } from "../../http/hono.ts";
import { readsFrom } from "../../http/replication.ts";
import { area } from "../../http/scopes.ts";
import { query } from "../../http/validation.ts";
import {
  type MetricsRange,
  type MetricsSubject,
  metricsQuery,
  readMetrics,
} from "../../organization/metrics/metrics.ts";
import type { callMetricsSchema } from "./call_metrics.responses.ts";
import { callDailyMetrics } from "./call_metrics.table.ts";

const { date, total_calls, failed_calls, ended_calls, duration_ms, waits, wait_ms } = callDailyMetrics;

const columns = { date, total_calls, failed_calls, ended_calls, duration_ms, waits, wait_ms };

const dailyMetrics = preparedQuery(
  ({ organization_id, organization_user_id, start, end }: Placeholders<MetricsSubject & MetricsRange>) =>
    builder
      .select(columns)
      .from(callDailyMetrics)
      .where(
        and(
          hasValues(callDailyMetrics, { organization_id, organization_user_id }),
          between(date, start, end),
          // A date whose last call was moved to another date keeps its row, with 0 calls.
          gt(total_calls, 0),
        ),
      )
      .orderBy(asc(date)),
);

function toCallMetrics(rows: Row<typeof columns>[]): z.input<typeof callMetricsSchema> {
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
