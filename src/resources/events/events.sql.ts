import { and, asc, eq, gt, type SQL } from "drizzle-orm";
import type { EventType } from "../../database/enums.ts";
import { namedCleanUp } from "../../database/portions.ts";
import { builder, namedQuery, type Placeholders } from "../../database/queries.ts";
import { events } from "../../database/schema.ts";

export const eventColumns = {
  id: events.id,
  type: events.type,
  created_at: events.created_at,
  data: events.data,
};

/** Which events of an organization are asked for. */
interface EventsAsked {
  organization_id: number;
  /** null for those of all types. */
  type: EventType | null;
  after: number;
  limit: number;
}

/** Oldest first. */
const eventsWhere = (condition: (asked: Placeholders<EventsAsked>) => SQL | undefined) =>
  namedQuery((asked: Placeholders<EventsAsked>) =>
    builder
      .select(eventColumns)
      .from(events)
      .where(
        and(eq(events.organization_id, asked.organization_id), condition(asked), gt(events.id, asked.after)),
      )
      .orderBy(asc(events.id))
      .limit(asked.limit),
  );

export const allEvents = eventsWhere(() => undefined);

/** A query of its own, because SQLite finds the events of one type by an index of their own. */
export const eventsOfType = eventsWhere(({ type }) => eq(events.type, type));

/** Deletes a portion of the events that are older than this. */
export const deleteEventsBefore = namedCleanUp(events, events.created_at);
