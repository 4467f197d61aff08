import * as z from "zod";
import { EVENT_TYPE_NAMES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { afterQuery } from "../../http/pagination.ts";
import { toTimestamp } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import type { eventSchema } from "./events.responses.ts";
import type { eventColumns } from "./events.sql.ts";

export const typeOrFamily = lazily(() =>
  z.enum(EVENT_TYPE_NAMES, `must be one of ${EVENT_TYPE_NAMES.join(", ")}`),
);

export const eventsQuery = lazily(() => z.object({ type: typeOrFamily().optional(), ...afterQuery().shape }));

export type EventsQuery = z.output<ReturnType<typeof eventsQuery>>;

export type Event = Row<typeof eventColumns>;

export function toEvent(row: Event): z.input<typeof eventSchema> {
  return { id: row.id, type: row.type, created_at: toTimestamp(row.created_at), data: row.data };
}
