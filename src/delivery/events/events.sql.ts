import { and, asc, eq, getTableColumns, gt, type SQL } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import { EVENT_TYPE_NAMES, type EventType, eventTypesOf } from "../../database/enums.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { events } from "./events.table.ts";

const { organization_id: _, ...ownColumns } = getTableColumns(events);

export const eventColumns = ownColumns;

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

export const allEvents = preparedQuery((part: Placeholders<EventsAfter>) =>
  selectEvents(part).orderBy(asc(events.id)).limit(part.limit),
);

/** D1 allows at most this many SELECTs in a union. */
const MAX_SELECTS = 5;

/** SQLite reads each type's events in order from an index, merges them, and stops at the limit. */
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

export const eventsByTypeName = new Map(
  EVENT_TYPE_NAMES.map((name) => [name, eventsOfTypes(eventTypesOf([name]))]),
);
