import type { ClientContext } from "../../context.ts";
import { type MetricsQuery, readMetrics } from "../../http/metrics.ts";
import type { DailyMetrics } from "./call_metrics.schemas.ts";
import { dailyMetrics } from "./call_metrics.sql.ts";

/** One row for each date of the range on which calls started; for one user or for the whole organization. */
export const listCallMetrics = (context: ClientContext, query: MetricsQuery): Promise<DailyMetrics[]> =>
  readMetrics(context, query, dailyMetrics);
