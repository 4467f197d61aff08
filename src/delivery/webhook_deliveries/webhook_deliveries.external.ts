import { costly } from "../../http/costly_requests.ts";
import { externalRoutes } from "../../http/hono.ts";
import { adminArea } from "../../http/scopes.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import * as schemas from "./webhook_deliveries.schemas.ts";
import { listDeliveries, pingWebhookEndpoint, redeliver } from "./webhook_deliveries.service.ts";

const byId = params(idParams);

export const webhookDeliveriesExternal = externalRoutes()
  .get(
    "/webhook_endpoints/:id/deliveries",
    adminArea("events"),
    byId,
    query(schemas.deliveriesQuery),
    async (c) => {
      const { id } = c.req.valid("param");
      const { deliveries, next_after } = await listDeliveries(c.var.context, id, c.req.valid("query"));
      return c.json({ deliveries: deliveries.map(schemas.toDelivery), next_after });
    },
  )
  .post(
    "/webhook_endpoints/:id/redeliver",
    adminArea("events"),
    costly("redeliveries"),
    byId,
    jsonBody(schemas.redeliverBody),
    async (c) => c.json(await redeliver(c.var.context, c.req.valid("param").id, c.req.valid("json").after)),
  )
  .post(
    "/webhook_endpoints/:id/ping",
    adminArea("events"),
    costly("redeliveries"),
    byId,
    jsonBody(schemas.pingBody, { isOptional: true }),
    async (c) => {
      const { type } = c.req.valid("json");
      return c.json(
        schemas.toPingResult(await pingWebhookEndpoint(c.var.context, c.req.valid("param").id, type)),
      );
    },
  );
