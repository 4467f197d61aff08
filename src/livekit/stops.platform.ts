import type { CallKey } from "../calls/calls/calls.sql.ts";
import { platformRoutes } from "../http/platform_api.ts";
import type { EgressKey } from "../results/egresses/egresses.sql.ts";
import { stopRefused } from "./stops.ts";

/** Stops the recording after a report that brings it together with a refusal. */
export const stopsPlatform = platformRoutes().on(
  "PUT",
  ["/organizations/:organization_id/calls/:key", "/organizations/:organization_id/egresses/:egress_id"],
  async (c, next) => {
    await next();
    if (!c.res.ok) return;
    const reported: CallKey | EgressKey = c.req.valid("param" as never);
    c.executionCtx.waitUntil(stopRefused(c.var.context, reported));
  },
);
