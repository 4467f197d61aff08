import { externalRoutes } from "../../http/external_api.ts";
import { metricsQuery } from "../../http/metrics.ts";
import { nearestReplica } from "../../http/replication.ts";
import { query } from "../../http/validation.ts";
import { toCallMetrics } from "./call_metrics.schemas.ts";
import { listCallMetrics } from "./call_metrics.service.ts";

export const callMetricsExternal = externalRoutes().get(
  "/call_metrics",
  nearestReplica,
  query(metricsQuery),
  async (c) => c.json(toCallMetrics(await listCallMetrics(c.var.context, c.req.valid("query")))),
);
