import { callKeyParams, type ReportedCallBody } from "../calls/calls/calls.schemas.ts";
import { platformRoutes } from "../http/platform_api.ts";
import { stopIfRefused } from "./stops.ts";

/** Stops the recording after a report with a refusal. */
export const stopsPlatform = platformRoutes().on(
  "PUT",
  "/organizations/:organization_id/calls/:key",
  async (c, next) => {
    await next();
    if (!c.res.ok) return;
    const { call }: ReportedCallBody = c.req.valid("json" as never);
    const path = callKeyParams().parse(c.req.param());
    c.executionCtx.waitUntil(stopIfRefused(c.var.context, path, call.participants));
  },
);
