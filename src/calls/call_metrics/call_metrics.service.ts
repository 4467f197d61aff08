import type { ClientContext } from "../../context.ts";
import { type MetricsQuery, readMetrics } from "../../organization/metrics/metrics.ts";
import type { DailyMetrics } from "./call_metrics.schemas.ts";
import { dailyMetrics } from "./call_metrics.sql.ts";

/** Returns a row for each date of the range on which calls started. */
export const listCallMetrics = (context: ClientContext, query: MetricsQuery): Promise<DailyMetrics[]> =>
  readMetrics(context, query, dailyMetrics);
