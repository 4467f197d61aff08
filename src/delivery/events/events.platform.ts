import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { query } from "../../http/validation.ts";
import { platformEventsQuery, toPlatformEvent } from "./events.schemas.ts";
import { listEventsOfAllOrganizations } from "./events.service.ts";

export const eventsPlatform = platformRoutes().get(
  "/events",
  openTo("PLATFORM_WEB_APP_TOKEN"),
  query(platformEventsQuery),
  async (c) => {
    const { events, next_after } = await listEventsOfAllOrganizations(c.var.context, c.req.valid("query"));
    return c.json({ events: events.map(toPlatformEvent), next_after });
  },
);
