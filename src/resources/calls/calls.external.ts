import { externalRoutes } from "../../http/external_api.ts";
import { pageQuery } from "../../http/pagination.ts";
import { params, query } from "../../http/validation.ts";
import { organizationUserParams, toCall } from "./calls.schemas.ts";
import { listCalls } from "./calls.service.ts";

export const callsExternal = externalRoutes().get(
  "/organization_users/:organization_user_id/calls",
  params(organizationUserParams),
  query(pageQuery),
  async (c) => {
    const { organization_user_id } = c.req.valid("param");
    const { items, pagination } = await listCalls(c.var.context, organization_user_id, c.req.valid("query"));
    return c.json({ calls: items.map(toCall), pagination });
  },
);
