import type { ClientContext } from "../../context.ts";
import { externalRoutes } from "../../http/hono.ts";
import { readsFrom } from "../../http/replication.ts";
import { area } from "../../http/scopes.ts";
import { query } from "../../http/validation.ts";
import { type MetricsQuery, metricsQuery, readMetrics } from "../../organization/metrics/metrics.ts";
import type { DailyMetrics } from "./call_metrics.schemas.ts";
import { toCallMetrics } from "./call_metrics.schemas.ts";
import { dailyMetrics } from "./call_metrics.sql.ts";

/** Returns a row for each date of the range on which calls started. */
const listCallMetrics = (context: ClientContext, query: MetricsQuery): Promise<DailyMetrics[]> =>
  readMetrics(context, query, dailyMetrics);

export const callMetricsExternal = externalRoutes().get(
  "/call_metrics",
  area("calls"),
  readsFrom("nearest"),
  query(metricsQuery),
  async (c) => c.json(toCallMetrics(await listCallMetrics(c.var.context, c.req.valid("query")))),
);
