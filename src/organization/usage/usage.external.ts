import { externalRoutes } from "../../http/external_api.ts";
import { area } from "../../http/scopes.ts";
import { query } from "../../http/validation.ts";
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
