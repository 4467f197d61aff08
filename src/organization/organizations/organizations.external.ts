import { externalRoutes } from "../../http/external_api.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { jsonBody } from "../../http/validation.ts";
import { toOwnOrganization, updateOwnOrganizationBody } from "./organizations.schemas.ts";
import { requireOrganization, updateOwnOrganization } from "./organizations.service.ts";

export const organizationsExternal = externalRoutes()
  .get("/organization", area("organization"), async (c) => {
    const { context } = c.var;
    return c.json(toOwnOrganization(await requireOrganization(context, context.caller.organization_id)));
  })
  .put("/organization", adminArea("organization"), jsonBody(updateOwnOrganizationBody), async (c) =>
    c.json(toOwnOrganization(await updateOwnOrganization(c.var.context, c.req.valid("json").organization))),
  );
