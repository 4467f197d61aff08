import { and, asc, eq, getTableColumns, gt, type SQL } from "drizzle-orm";
import type { EventType } from "../../database/enums.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { events } from "../../database/schema.ts";

const { organization_id: _, ...ownColumns } = getTableColumns(events);

export const eventColumns = ownColumns;

/** A part of an organization's events. */
interface EventsAfter {
  organization_id: number;
  /** null for those of all types. */
  type: EventType | null;
  after: number;
  limit: number;
}

/** Oldest first. */
const eventsWhere = (condition: (part: Placeholders<EventsAfter>) => SQL | undefined) =>
  preparedQuery((part: Placeholders<EventsAfter>) =>
    builder
      .select(eventColumns)
      .from(events)
      .where(
        and(eq(events.organization_id, part.organization_id), condition(part), gt(events.id, part.after)),
      )
      .orderBy(asc(events.id))
      .limit(part.limit),
  );

export const allEvents = eventsWhere(() => undefined);

/** A query of its own, because SQLite finds the events of one type by an index of their own. */
export const eventsOfType = eventsWhere(({ type }) => eq(events.type, type));
