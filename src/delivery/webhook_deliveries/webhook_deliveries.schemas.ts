import * as z from "zod";
import { EVENT_TYPES, type EventType } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { pageQuery } from "../../http/pagination.ts";
import { pathId, toTimestamp, toTimestampOrNull } from "../../http/wire.ts";
import { exampleEvent } from "../events/events.examples.ts";
import { noSuchType } from "../events/events.schemas.ts";
import { type Webhook, webhookOf } from "./webhook_deliveries.format.ts";
import type { DueDelivery } from "./webhook_deliveries.lanes.ts";
import type { Attempt } from "./webhook_deliveries.merge.ts";
import type { deliverySchema, pingResultSchema, webhookSchema } from "./webhook_deliveries.responses.ts";
import type { deliveryColumns } from "./webhook_deliveries.sql.ts";

export const deliveriesQuery = () =>
  z.object({ after: pathId().optional(), per_page: pageQuery().shape.per_page });

export type DeliveriesQuery = z.output<ReturnType<typeof deliveriesQuery>>;

export const redeliverBody = () => z.object({ after: z.int().nonnegative() });

/** Not families: an example is of one type. */
export const pingBody = () =>
  z.object({ type: z.enum(EVENT_TYPES, { error: ({ input }) => noSuchType(input, EVENT_TYPES) }) }).partial();

export type Delivery = Row<typeof deliveryColumns>;

export function toDelivery(row: Delivery): z.input<typeof deliverySchema> {
  return {
    event_id: row.event_id,
    event_type: row.event_type,
    attempts: row.attempts,
    last_attempt_at: toTimestampOrNull(row.last_attempt_at),
    response_status: row.response_status,
    error: row.error,
    next_attempt_at: toTimestampOrNull(row.next_attempt_at),
  };
}

type WebhookBody = z.input<typeof webhookSchema>;

export const toPingResult = ({ response_status, error }: Attempt): z.input<typeof pingResultSchema> => ({
  response_status,
  error,
});

export const webhookOfDelivery = ({
  event_id: id,
  type,
  created_at,
  data,
}: Pick<DueDelivery, "event_id" | "type" | "created_at" | "data">): Webhook =>
  webhookOf({ id, type, timestamp: toTimestamp(created_at), data });

/** A ping is not an event: its id is always 0, and each ping has its own webhook id. */
export function newPing(now: number): Webhook {
  const body: WebhookBody = { id: 0, type: "ping", test: true, timestamp: toTimestamp(now), data: {} };
  return { webhook_id: `ping_${crypto.randomUUID()}`, body: JSON.stringify(body) };
}

/** Like a ping, it is not an event, and has its own webhook id each time. */
export function newTest(example: EventType): Webhook {
  const { id, type, created_at: timestamp, data } = exampleEvent(example);
  const body: WebhookBody = { id, type, test: true, timestamp, data };
  return { webhook_id: `test_${crypto.randomUUID()}`, body: JSON.stringify(body) };
}
