import { externalRoutes } from "../../http/hono.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { readsFrom } from "../../http/replication.ts";
import { adminArea } from "../../http/scopes.ts";
import { query } from "../../http/validation.ts";
import { eventsQuery, platformEventsQuery, toEvent, toPlatformEvent } from "./events.schemas.ts";
import { listEvents, listEventsOfAllOrganizations } from "./events.service.ts";

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

export const eventsPlatform = platformRoutes().get(
  "/events",
  openTo("PLATFORM_WEB_APP_TOKEN"),
  query(platformEventsQuery),
  async (c) => {
    const { events, next_after } = await listEventsOfAllOrganizations(c.var.context, c.req.valid("query"));
    return c.json({ events: events.map(toPlatformEvent), next_after });
  },
);
