import { externalRoutes } from "../../http/hono.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { area } from "../../http/scopes.ts";
import { params, query } from "../../http/validation.ts";
import { organizationParams } from "../../http/wire.ts";
import { toUsageOfDates, usageQuery } from "./usage.schemas.ts";
import { listUsage } from "./usage.service.ts";

export const usageExternal = externalRoutes().get(
  "/usage",
  area("organization"),
  query(usageQuery),
  async (c) => {
    const { context } = c.var;
    const { organization_id } = context.caller;
    return c.json(toUsageOfDates(await listUsage(context, organization_id, c.req.valid("query"))));
  },
);

export const usagePlatform = platformRoutes().get(
  "/organizations/:organization_id/usage",
  params(organizationParams),
  query(usageQuery),
  async (c) => {
    const { organization_id } = c.req.valid("param");
    return c.json(toUsageOfDates(await listUsage(c.var.context, organization_id, c.req.valid("query"))));
  },
);
