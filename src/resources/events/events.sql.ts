import { and, asc, eq, getTableColumns, gt, type SQL } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import { EVENT_TYPE_NAMES, type EventType, eventTypesOf } from "../../database/enums.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { events } from "../../database/schema.ts";

const { organization_id: _, ...ownColumns } = getTableColumns(events);

export const eventColumns = ownColumns;

/** A part of an organization's events. */
interface EventsAfter {
  organization_id: number;
  after: number;
  limit: number;
}

const selectEvents = (part: Placeholders<EventsAfter>, condition?: SQL) =>
  builder
    .select(eventColumns)
    .from(events)
    .where(and(eq(events.organization_id, part.organization_id), gt(events.id, part.after), condition));

/** Oldest first. */
export const allEvents = preparedQuery((part: Placeholders<EventsAfter>) =>
  selectEvents(part).orderBy(asc(events.id)).limit(part.limit),
);

/** D1 takes at most so many selects in a union. */
const MAX_SELECTS = 5;

/** SQLite finds the events of each type in their order by an index, merges them, and stops when it has as many as wanted. */
const eventsOfTypes = (types: EventType[]) =>
  preparedQuery((part: Placeholders<EventsAfter>) => {
    const merged = ([type, ...others]: EventType[]) => {
      const ofType = (each: EventType | undefined) => selectEvents(part, eq(events.type, each as EventType));
      const [other, ...more] = others.map(ofType);
      const all = other ? unionAll(ofType(type), other, ...more) : ofType(type);
      return all.orderBy(asc(events.id)).limit(part.limit);
    };
    if (types.length <= MAX_SELECTS) return merged(types);
    const first = merged(types.slice(0, MAX_SELECTS)).as("first");
    const rest = merged(types.slice(MAX_SELECTS)).as("rest");
    return unionAll(builder.select().from(first), builder.select().from(rest))
      .orderBy(asc(events.id))
      .limit(part.limit);
  });

/** By the name of a type or family, those of its types: each is a query of its own. */
export const eventsByTypeName = new Map(
  EVENT_TYPE_NAMES.map((name) => [name, eventsOfTypes(eventTypesOf([name]))]),
);
