import { externalRoutes } from "../../http/hono.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { organizationParams } from "../../http/wire.ts";
import * as schemas from "./organizations.schemas.ts";
import * as service from "./organizations.service.ts";

export const organizationsExternal = externalRoutes()
  .get("/organization", area("organization"), async (c) => {
    const { context } = c.var;
    const organization = await service.requireOrganization(context, context.caller.organization_id);
    return c.json(schemas.toOwnOrganization(context, organization));
  })
  .put("/organization", adminArea("organization"), jsonBody(schemas.updateOwnOrganizationBody), async (c) => {
    const { context } = c.var;
    const organization = await service.updateOwnOrganization(context, c.req.valid("json").organization);
    return c.json(schemas.toOwnOrganization(context, organization));
  });

const ofOrganization = params(organizationParams);

export const organizationsPlatform = platformRoutes()
  .get("/organizations", query(schemas.organizationsQuery), async (c) => {
    const { items, pagination } = await service.listOrganizations(c.var.context, c.req.valid("query"));
    return c.json({ organizations: items.map(schemas.toOrganization), pagination });
  })
  .post("/organizations", jsonBody(schemas.createOrganizationBody), async (c) => {
    const organization = await service.createOrganization(c.var.context, c.req.valid("json").organization);
    return c.json(schemas.toOrganization(organization), 201);
  })
  .get("/organizations/:organization_id", ofOrganization, async (c) =>
    c.json(
      schemas.toOrganization(
        await service.requireOrganization(c.var.context, c.req.valid("param").organization_id),
      ),
    ),
  )
  .put(
    "/organizations/:organization_id",
    ofOrganization,
    jsonBody(schemas.updateOrganizationBody),
    async (c) => {
      const { organization_id } = c.req.valid("param");
      const input = c.req.valid("json").organization;
      return c.json(
        schemas.toOrganization(await service.updateOrganization(c.var.context, organization_id, input)),
      );
    },
  );
