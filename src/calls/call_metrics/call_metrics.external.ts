import { externalRoutes } from "../../http/hono.ts";
import { readsFrom } from "../../http/replication.ts";
import { area } from "../../http/scopes.ts";
import { query } from "../../http/validation.ts";
import { metricsQuery, readMetrics } from "../../organization/metrics/metrics.ts";
import { toCallMetrics } from "./call_metrics.schemas.ts";
import { dailyMetrics } from "./call_metrics.sql.ts";

export const callMetricsExternal = externalRoutes().get(
  "/call_metrics",
  area("calls"),
  readsFrom("nearest"),
  query(metricsQuery),
  async (c) => c.json(toCallMetrics(await readMetrics(c.var.context, c.req.valid("query"), dailyMetrics))),
);
