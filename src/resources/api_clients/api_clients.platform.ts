import { inOrganization, inRangeOfId } from "../../directory/in_place.ts";
import { pageQuery } from "../../http/pagination.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import { createApiClientBody, toApiClient, toIssuedApiClient } from "./api_clients.schemas.ts";
import { createApiClient, listApiClients, revokeApiClient } from "./api_clients.service.ts";

const byId = params(idParams);

export const apiClientsPlatform = platformRoutes()
  .get("/organizations/:id/api_clients", byId, query(pageQuery), async (c) => {
    const { id } = c.req.valid("param");
    const { items, pagination } = await inOrganization(listApiClients)(
      c.var.context,
      id,
      c.req.valid("query"),
    );
    return c.json({ api_clients: items.map(toApiClient), pagination });
  })
  .post("/organizations/:id/api_clients", byId, jsonBody(createApiClientBody), async (c) => {
    const { id } = c.req.valid("param");
    const client = await inOrganization(createApiClient)(c.var.context, id, c.req.valid("json").api_client);
    return c.json(toIssuedApiClient(client), 201);
  })
  .delete("/api_clients/:id", byId, async (c) => {
    await inRangeOfId(revokeApiClient)(c.var.context, c.req.valid("param").id);
    return c.body(null, 204);
  });
