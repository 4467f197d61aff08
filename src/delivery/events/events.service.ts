import { administeredOrganization, type ClientContext } from "../../context.ts";
import { runAll } from "../../database/queries.ts";
import { eventsNotFound } from "./events.refusals.ts";
import type { Event, EventsQuery } from "./events.schemas.ts";
import { allEvents, eventsByTypeName } from "./events.sql.ts";

export async function listEvents(
  { db, caller }: ClientContext,
  { type, after, per_page }: EventsQuery,
): Promise<{ events: Event[]; next_after: number }> {
  const organization_id = administeredOrganization(caller, eventsNotFound);
  const list = (type && eventsByTypeName.get(type)) ?? allEvents;
  const page = await runAll(db, list({ organization_id, after, limit: per_page }));
  return { events: page, next_after: page.at(-1)?.id ?? after };
}
