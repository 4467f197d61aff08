import { inOrganization, inRangeOfId } from "../../directory/in_place.ts";
import { pageQuery } from "../../http/pagination.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import { createIssuerBody, toIssuer } from "./issuers.schemas.ts";
import { createIssuer, deleteIssuer, listIssuers } from "./issuers.service.ts";

const byId = params(idParams);

export const issuersPlatform = platformRoutes()
  .get("/organizations/:id/issuers", byId, query(pageQuery), async (c) => {
    const { id } = c.req.valid("param");
    const { items, pagination } = await inOrganization(listIssuers)(c.var.context, id, c.req.valid("query"));
    return c.json({ issuers: items.map(toIssuer), pagination });
  })
  .post("/organizations/:id/issuers", byId, jsonBody(createIssuerBody), async (c) => {
    const issuer = await inOrganization(createIssuer)(
      c.var.context,
      c.req.valid("param").id,
      c.req.valid("json").issuer,
    );
    return c.json(toIssuer(issuer), 201);
  })
  .delete("/issuers/:id", byId, async (c) => {
    await inRangeOfId(deleteIssuer)(c.var.context, c.req.valid("param").id);
    return c.body(null, 204);
  });
