import { platformRoutes } from "../http/platform_api.ts";
import { stopAfterReport } from "./stops.ts";

/** Stops the recording after a report that brings it together with a refusal. */
export const stopsPlatform = platformRoutes().on(
  "PUT",
  ["/organizations/:organization_id/calls/:key", "/organizations/:organization_id/egresses/:egress_id"],
  async (c, next) => {
    await next();
    if (c.res.ok) c.executionCtx.waitUntil(stopAfterReport(c.var.context));
  },
);
