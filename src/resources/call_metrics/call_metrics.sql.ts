import { and, asc, between, gt } from "drizzle-orm";
import { hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { callDailyMetrics } from "../../database/schema.ts";

export const dailyMetricsColumns = {
  date: callDailyMetrics.date,
  total_calls: callDailyMetrics.total_calls,
  failed_calls: callDailyMetrics.failed_calls,
  ended_calls: callDailyMetrics.ended_calls,
  duration_ms: callDailyMetrics.duration_ms,
  waits: callDailyMetrics.waits,
  wait_ms: callDailyMetrics.wait_ms,
};

/** Whose metrics. */
interface MetricsSubject {
  organization_id: number;
  /** Or WHOLE_ORGANIZATION. */
  organization_user_id: number;
}

/** Dates as `YYYY-MM-DD`, both included. */
export interface MetricsRange {
  start: string;
  end: string;
}

export const dailyMetrics = preparedQuery(
  ({ organization_id, organization_user_id, start, end }: Placeholders<MetricsSubject & MetricsRange>) =>
    builder
      .select(dailyMetricsColumns)
      .from(callDailyMetrics)
      .where(
        and(
          hasValues(callDailyMetrics, { organization_id, organization_user_id }),
          between(callDailyMetrics.date, start, end),
          // A date whose last call was moved to another date keeps its row, with 0 calls.
          gt(callDailyMetrics.total_calls, 0),
        ),
      )
      .orderBy(asc(callDailyMetrics.date)),
);
