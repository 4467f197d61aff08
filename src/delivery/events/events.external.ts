import { externalRoutes } from "../../http/hono.ts";
import { readsFrom } from "../../http/replication.ts";
import { adminArea } from "../../http/scopes.ts";
import { query } from "../../http/validation.ts";
import { eventsQuery, toEvent } from "./events.schemas.ts";
import { listEvents } from "./events.service.ts";

export const eventsExternal = externalRoutes().get(
  "/events",
  adminArea("events"),
  readsFrom("nearest"),
  query(eventsQuery),
  async (c) => {
    const { events, next_after } = await listEvents(c.var.context, c.req.valid("query"));
    return c.json({ events: events.map(toEvent), next_after });
  },
);
