import { and, asc, eq, getTableColumns, gt, inArray, lte, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import { EVENT_TYPE_NAMES, type EventType, eventTypesOf } from "../../database/enums.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { RANGE } from "../../database/shards.ts";
import { events } from "./events.table.ts";

export const platformEventColumns = getTableColumns(events);

const { organization_id: _, ...ownColumns } = platformEventColumns;

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

interface UnreadEvents {
  /** A JSON array of pairs: see `unreadAfter`. */
  unread: string;
  limit: number;
}

/** Reads at most `limit` events in each interval. `condition` may refer to `from`. */
function selectUnread({ unread, limit }: Placeholders<UnreadEvents>, from = sql``, condition?: SQL) {
  const inInterval = builder
    .select({ id: events.id })
    .from(events)
    .where(
      and(condition, gt(events.id, sql`interval.value ->> 0`), lte(events.id, sql`interval.value ->> 1`)),
    )
    .orderBy(asc(events.id))
    .limit(limit);
  const ids = sql`(select own.id from json_each(${unread}) as interval ${from} cross join ${events} as own on own.id in ${inInterval})`;
  return builder
    .select(platformEventColumns)
    .from(events)
    .where(inArray(events.id, ids))
    .orderBy(asc(events.id))
    .limit(limit);
}

export const unreadEvents = preparedQuery((part: Placeholders<UnreadEvents>) => selectUnread(part));

/** `types` is a JSON array. */
export const unreadEventsOfTypes = preparedQuery((part: Placeholders<UnreadEvents & { types: string }>) =>
  selectUnread(part, sql`cross join json_each(${part.types}) as kind`, eq(events.type, sql`kind.value`)),
);

/** For `mergeEvents` and `advance`. */
export const stateOfEvents = preparedQuery(({ positions }: Placeholders<{ positions: string }>) => {
  const startOfRange = sql`position.value - position.value % ${sql.raw(String(RANGE))}`;
  const isRead = sql`exists (select 1 from ${events} where ${events.id} > ${startOfRange} and ${events.id} <= position.value)`;
  return builder
    .select({
      newest: sql<number | null>`(select seq from sqlite_sequence where name = 'events')`.as("newest"),
      read: sql`(select json_group_array(value) from json_each(${positions}) as position where ${isRead})`
        .mapWith((ids: string): number[] => JSON.parse(ids))
        .as("read"),
    })
    .from(sql`(select 1)`);
});
