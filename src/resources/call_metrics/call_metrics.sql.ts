import { and, asc, between, eq, gt, sql } from "drizzle-orm";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { callDailyMetrics, WHOLE_ORGANIZATION } from "../../database/schema.ts";
import { memberOf } from "../organization_users/organization_users.sql.ts";

export const dailyMetricsColumns = {
  date: callDailyMetrics.date,
  total_calls: callDailyMetrics.total_calls,
  failed_calls: callDailyMetrics.failed_calls,
  completed_calls: callDailyMetrics.completed_calls,
  duration_ms: callDailyMetrics.duration_ms,
  waits: callDailyMetrics.waits,
  wait_ms: callDailyMetrics.wait_ms,
};

/** Whose metrics; a `user_id` of null means the whole organization. */
interface MetricsSubject {
  organization_id: number;
  user_id: number | null;
}

/** Dates as `YYYY-MM-DD`, both included. */
export interface MetricsRange {
  start: string;
  end: string;
}

export const dailyMetrics = preparedQuery(
  ({ organization_id, user_id, start, end }: Placeholders<MetricsSubject & MetricsRange>) => {
    const subject = sql`case when ${user_id} is null then ${WHOLE_ORGANIZATION}
      else ${memberOf(organization_id, user_id)} end`;
    return builder
      .select(dailyMetricsColumns)
      .from(callDailyMetrics)
      .where(
        and(
          eq(callDailyMetrics.organization_id, organization_id),
          eq(callDailyMetrics.organization_user_id, subject),
          between(callDailyMetrics.date, start, end),
          // A date whose last call was moved to another date keeps its row, with 0 calls.
          gt(callDailyMetrics.total_calls, 0),
        ),
      )
      .orderBy(asc(callDailyMetrics.date));
  },
);

/** Selects nothing where `user_id` is not a user of the organization. */
export const metricsMember = preparedQuery(
  ({ organization_id, user_id }: Placeholders<{ organization_id: number; user_id: number }>) =>
    memberOf(organization_id, user_id),
);
