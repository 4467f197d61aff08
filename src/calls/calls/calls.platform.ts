import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { reportCall, requireReportedCall } from "./calls.reports.ts";
import { callKeyParams, reportCallBody, toReportedCall } from "./calls.schemas.ts";

const CALL = "/organizations/:organization_id/calls/:key";

const byKey = params(callKeyParams);

export const callsPlatform = platformRoutes()
  .get(CALL, openTo("PLATFORM_REPORTS_TOKEN"), byKey, async (c) =>
    c.json(toReportedCall(await requireReportedCall(c.var.context, c.req.valid("param")))),
  )
  .put(CALL, openTo("PLATFORM_REPORTS_TOKEN"), byKey, jsonBody(reportCallBody), async (c) => {
    const { call, reported_at } = c.req.valid("json");
    const reported = await reportCall(c.var.context, c.req.valid("param"), { ...call, reported_at });
    return c.json(toReportedCall(reported));
  });
