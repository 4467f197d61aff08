import { pageQuery } from "../../http/pagination.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { organizationParams, ownParams } from "../../http/wire.ts";
import { createApiClientBody, toApiClient, toIssuedApiClient } from "./api_clients.schemas.ts";
import { createApiClient, listApiClients, revokeApiClient } from "./api_clients.service.ts";

const API_CLIENTS = "/organizations/:organization_id/api_clients";

const ofOrganization = params(organizationParams);

export const apiClientsPlatform = platformRoutes()
  .get(API_CLIENTS, ofOrganization, query(pageQuery), async (c) => {
    const { organization_id } = c.req.valid("param");
    const { items, pagination } = await listApiClients(c.var.context, organization_id, c.req.valid("query"));
    return c.json({ api_clients: items.map(toApiClient), pagination });
  })
  .post(API_CLIENTS, ofOrganization, jsonBody(createApiClientBody), async (c) => {
    const { organization_id } = c.req.valid("param");
    const client = await createApiClient(c.var.context, organization_id, c.req.valid("json").api_client);
    return c.json(toIssuedApiClient(client), 201);
  })
  .delete(`${API_CLIENTS}/:id`, params(ownParams), async (c) => {
    await revokeApiClient(c.var.context, c.req.valid("param"));
    return c.body(null, 204);
  });
