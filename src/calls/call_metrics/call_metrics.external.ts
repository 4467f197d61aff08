import { externalRoutes } from "../../http/hono.ts";
import { readsFrom } from "../../http/replication.ts";
import { area } from "../../http/scopes.ts";
import { query } from "../../http/validation.ts";
import { metricsQuery } from "../../organization/metrics/metrics.ts";
import { toCallMetrics } from "./call_metrics.schemas.ts";
import { listCallMetrics } from "./call_metrics.service.ts";

export const callMetricsExternal = externalRoutes().get(
  "/call_metrics",
  area("calls"),
  readsFrom("nearest"),
  query(metricsQuery),
  async (c) => c.json(toCallMetrics(await listCallMetrics(c.var.context, c.req.valid("query")))),
);
