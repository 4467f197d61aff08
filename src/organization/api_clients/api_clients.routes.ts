import { externalRoutes, noContent } from "../../http/hono.ts";
import { idempotent } from "../../http/idempotency_key.ts";
import { pageQuery } from "../../http/pagination.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams, organizationParams, ownParams } from "../../http/wire.ts";
import * as schemas from "./api_clients.schemas.ts";
import * as service from "./api_clients.service.ts";

export const apiClientsExternal = externalRoutes()
  .get("/api_client", area(null), async (c) =>
    c.json(schemas.toOwnApiClient(await service.requireOwnClient(c.var.context))),
  )
  .get("/api_clients", adminArea("organization"), query(pageQuery), async (c) => {
    const { items, pagination } = await service.listOwnApiClients(c.var.context, c.req.valid("query"));
    return c.json({ api_clients: items.map(schemas.toApiClient), pagination });
  })
  .post(
    "/api_clients",
    adminArea("organization"),
    idempotent,
    jsonBody(schemas.createApiClientBody),
    async (c) => {
      const client = await service.createOwnApiClient(c.var.context, c.req.valid("json").api_client);
      return c.json(schemas.toIssuedApiClient(client), 201);
    },
  )
  .delete("/api_clients/:id", adminArea("organization"), params(idParams), (c) =>
    noContent(c, service.revokeOwnApiClient(c.var.context, c.req.valid("param").id)),
  );

const API_CLIENTS = "/organizations/:organization_id/api_clients";

const ofOrganization = params(organizationParams);

export const apiClientsPlatform = platformRoutes()
  .get(API_CLIENTS, ofOrganization, query(pageQuery), async (c) => {
    const { organization_id } = c.req.valid("param");
    const { items, pagination } = await service.listApiClients(
      c.var.context,
      organization_id,
      c.req.valid("query"),
    );
    return c.json({ api_clients: items.map(schemas.toApiClient), pagination });
  })
  .post(API_CLIENTS, ofOrganization, jsonBody(schemas.createApiClientBody), async (c) => {
    const { organization_id } = c.req.valid("param");
    const client = await service.createApiClient(
      c.var.context,
      organization_id,
      c.req.valid("json").api_client,
    );
    return c.json(schemas.toIssuedApiClient(client), 201);
  })
  .delete(`${API_CLIENTS}/:id`, params(ownParams), (c) =>
    noContent(c, service.revokeApiClient(c.var.context, c.req.valid("param"))),
  );
