import { externalRoutes } from "../../http/external_api.ts";
import { area } from "../../http/scopes.ts";
import { jsonBody } from "../../http/validation.ts";
import { toOrganization, updateOrganizationBody } from "./organizations.schemas.ts";
import { requireOrganization, updateOwnOrganization } from "./organizations.service.ts";

export const organizationsExternal = externalRoutes()
  .get("/organization", area("organization"), async (c) => {
    const { context } = c.var;
    return c.json(toOrganization(await requireOrganization(context, context.caller.organization_id)));
  })
  .put("/organization", area("organization"), jsonBody(updateOrganizationBody), async (c) =>
    c.json(toOrganization(await updateOwnOrganization(c.var.context, c.req.valid("json").organization))),
  );
