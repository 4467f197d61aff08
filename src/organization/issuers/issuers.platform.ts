import { noContent } from "../../http/hono.ts";
import { pageQuery } from "../../http/pagination.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { organizationParams, ownParams } from "../../http/wire.ts";
import { createIssuerBody, toIssuer } from "./issuers.schemas.ts";
import { createIssuer, deleteIssuer, listIssuers } from "./issuers.service.ts";

const ofOrganization = params(organizationParams);

export const issuersPlatform = platformRoutes()
  .get("/organizations/:organization_id/issuers", ofOrganization, query(pageQuery), async (c) => {
    const { organization_id } = c.req.valid("param");
    const { items, pagination } = await listIssuers(c.var.context, organization_id, c.req.valid("query"));
    return c.json({ issuers: items.map(toIssuer), pagination });
  })
  .post("/organizations/:organization_id/issuers", ofOrganization, jsonBody(createIssuerBody), async (c) => {
    const { organization_id } = c.req.valid("param");
    const issuer = await createIssuer(c.var.context, organization_id, c.req.valid("json").issuer);
    return c.json(toIssuer(issuer), 201);
  })
  .delete("/organizations/:organization_id/issuers/:id", params(ownParams), (c) =>
    noContent(c, deleteIssuer(c.var.context, c.req.valid("param"))),
  );
