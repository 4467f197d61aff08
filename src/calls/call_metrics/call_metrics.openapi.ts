import type { Reference } from "../../openapi/operation.ts";
import { metricsOperation } from "../../organization/metrics/metrics.openapi.ts";
import { callMetricsSchema } from "./call_metrics.responses.ts";

export const callMetricsReference: Reference = {
  tag: "Call metrics",
  description:
    "Counts and averages of calls by date, for the whole organization, one user or one waiting room. Every API client of the organization can read them.",
  external: {
    "GET /call_metrics": {
      operationId: "getCallMetrics",
      summary: "Get call metrics",
      ...metricsOperation("calls", callMetricsSchema),
    },
  },
};
