import { and, asc, between, gt } from "drizzle-orm";
import { hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import type { MetricsRange, MetricsSubject } from "../../organization/metrics/metrics.ts";
import { callDailyMetrics } from "./call_metrics.table.ts";

const { date, total_calls, failed_calls, ended_calls, duration_ms, waits, wait_ms } = callDailyMetrics;

export const dailyMetricsColumns = {
  date,
  total_calls,
  failed_calls,
  ended_calls,
  duration_ms,
  waits,
  wait_ms,
};

export const dailyMetrics = preparedQuery(
  ({ organization_id, organization_user_id, start, end }: Placeholders<MetricsSubject & MetricsRange>) =>
    builder
      .select(dailyMetricsColumns)
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
