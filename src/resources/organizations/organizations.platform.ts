import { inOrganization } from "../../directory/in_place.ts";
import { pageQuery } from "../../http/pagination.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import { createOrganizationBody, toOrganization, updateOrganizationBody } from "./organizations.schemas.ts";
import {
  createOrganization,
  listOrganizations,
  requireOrganization,
  updateOrganization,
} from "./organizations.service.ts";

const byId = params(idParams);

export const organizationsPlatform = platformRoutes()
  .get("/organizations", query(pageQuery), async (c) => {
    const { items, pagination } = await listOrganizations(c.var.context, c.req.valid("query"));
    return c.json({ organizations: items.map(toOrganization), pagination });
  })
  .post("/organizations", jsonBody(createOrganizationBody), async (c) => {
    const organization = await createOrganization(c.var.context, c.req.valid("json").organization);
    return c.json(toOrganization(organization), 201);
  })
  .get("/organizations/:id", byId, async (c) =>
    c.json(toOrganization(await inOrganization(requireOrganization)(c.var.context, c.req.valid("param").id))),
  )
  .put("/organizations/:id", byId, jsonBody(updateOrganizationBody), async (c) => {
    const { id } = c.req.valid("param");
    const organization = await inOrganization(updateOrganization)(
      c.var.context,
      id,
      c.req.valid("json").organization,
    );
    return c.json(toOrganization(organization));
  });
