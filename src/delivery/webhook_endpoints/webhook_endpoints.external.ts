import { externalRoutes, noContent } from "../../http/hono.ts";
import { idempotent } from "../../http/idempotency_key.ts";
import { adminArea } from "../../http/scopes.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import * as schemas from "./webhook_endpoints.schemas.ts";
import * as service from "./webhook_endpoints.service.ts";

const events = adminArea("events");

const byId = params(idParams);

export const webhookEndpointsExternal = externalRoutes()
  .get("/webhook_endpoints", events, async (c) => {
    const endpoints = await service.listWebhookEndpoints(c.var.context);
    return c.json({ webhook_endpoints: endpoints.map(schemas.toWebhookEndpoint) });
  })
  .post("/webhook_endpoints", events, idempotent, jsonBody(schemas.createWebhookEndpointBody), async (c) => {
    const endpoint = await service.createWebhookEndpoint(c.var.context, c.req.valid("json").webhook_endpoint);
    return c.json(schemas.toWebhookEndpointWithSecret(endpoint), 201);
  })
  .get("/webhook_endpoints/:id", events, byId, async (c) =>
    c.json(
      schemas.toWebhookEndpoint(await service.requireWebhookEndpoint(c.var.context, c.req.valid("param").id)),
    ),
  )
  .put("/webhook_endpoints/:id", events, byId, jsonBody(schemas.updateWebhookEndpointBody), async (c) => {
    const { id } = c.req.valid("param");
    const endpoint = await service.updateWebhookEndpoint(
      c.var.context,
      id,
      c.req.valid("json").webhook_endpoint,
    );
    return c.json(schemas.toWebhookEndpoint(endpoint));
  })
  .delete("/webhook_endpoints/:id", events, byId, (c) =>
    noContent(c, service.deleteWebhookEndpoint(c.var.context, c.req.valid("param").id)),
  )
  .post("/webhook_endpoints/:id/rotate_secret", events, byId, async (c) => {
    const endpoint = await service.rotateWebhookSecret(c.var.context, c.req.valid("param").id);
    return c.json(schemas.toWebhookEndpointWithSecret(endpoint));
  });
