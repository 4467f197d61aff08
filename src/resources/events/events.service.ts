import type { ClientContext, Context } from "../../context.ts";
import { runAll } from "../../database/queries.ts";
import { EVENTS_KEPT_FOR } from "../../limits.ts";
import { administeredOrganization } from "../roles/roles.schemas.ts";
import type { Event, EventsQuery } from "./events.schemas.ts";
import { allEvents, deleteEventsBefore, eventsOfType } from "./events.sql.ts";

/** The next events after an id, oldest first, and the id after which to ask next. */
export async function listEvents(
  { db, caller }: ClientContext,
  { type, after, per_page }: EventsQuery,
): Promise<{ events: Event[]; next_after: number }> {
  const organization_id = administeredOrganization(caller, "Events");
  const asked = { organization_id, type: type ?? null, after, limit: per_page };
  const events = await runAll(db, (type ? eventsOfType : allEvents)(asked));
  return { events, next_after: events.at(-1)?.id ?? after };
}

/**
 * One run deletes a portion.
 *
 * @returns how many
 */
export async function deleteOldEvents({ db, now }: Context): Promise<number> {
  return (await runAll(db, deleteEventsBefore({ before: now - EVENTS_KEPT_FOR }))).length;
}
