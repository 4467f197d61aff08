import * as z from "zod";
import { EVENT_TYPE_NAMES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { nearest } from "../../http/nearest.ts";
import { afterQuery, pageQuery } from "../../http/pagination.ts";
import { NO_POSITIONS } from "../../http/positions.ts";
import { reference, toTimestamp } from "../../http/wire.ts";
import { MAX_EVENT_POSITIONS_LENGTH } from "../../limits.ts";
import { EVENT_POSITIONS, type Positions, readEventPositions } from "./events.positions.ts";
import type { eventSchema, platformEventSchema } from "./events.responses.ts";
import type { eventColumns, platformEventColumns } from "./events.sql.ts";

/** The error for an unknown type of event. There are too many types to list them all. */
export const noSuchType = (sent: unknown, known: readonly string[]): string =>
  `must be a type of event: the most similar ones are ${nearest(String(sent), known).slice(0, 3).join(", ")}`;

export const typeOrFamily = () =>
  z.enum(EVENT_TYPE_NAMES, { error: ({ input }) => noSuchType(input, EVENT_TYPE_NAMES) });

export const eventsQuery = () => z.object({ type: typeOrFamily().optional(), ...afterQuery().shape });

export type EventsQuery = z.output<ReturnType<typeof eventsQuery>>;

const afterEvents = () =>
  reference(MAX_EVENT_POSITIONS_LENGTH)
    .regex(EVENT_POSITIONS, NO_POSITIONS)
    .transform(readEventPositions)
    .default((): Positions => [])
    .meta({ override: { type: "string", pattern: EVENT_POSITIONS.source, default: "0" } });

export const platformEventsQuery = () =>
  z.object({ type: typeOrFamily().optional(), after: afterEvents(), per_page: pageQuery().shape.per_page });

export type PlatformEventsQuery = z.output<ReturnType<typeof platformEventsQuery>>;

export type Event = Row<typeof eventColumns>;

export type PlatformEvent = Row<typeof platformEventColumns>;

export function toEvent(row: Event): z.input<typeof eventSchema> {
  return { id: row.id, type: row.type, created_at: toTimestamp(row.created_at), data: row.data };
}

export function toPlatformEvent(row: PlatformEvent): z.input<typeof platformEventSchema> {
  const { id, ...event } = toEvent(row);
  return { id, organization_id: row.organization_id, ...event };
}
