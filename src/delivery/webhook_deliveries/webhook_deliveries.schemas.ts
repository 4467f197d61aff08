import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { pageQuery } from "../../http/pagination.ts";
import { pathId, toTimestamp, toTimestampOrNull } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import type { DueDelivery } from "../webhook_lanes/webhook_lanes.sql.ts";
import type { Attempt } from "./webhook_deliveries.merge.ts";
import type { deliverySchema, pingResultSchema, webhookSchema } from "./webhook_deliveries.responses.ts";
import type { Webhook } from "./webhook_deliveries.sending.ts";
import type { deliveryColumns } from "./webhook_deliveries.sql.ts";

export const deliveriesQuery = lazily(() =>
  z.object({ after: pathId().optional(), per_page: pageQuery().shape.per_page }),
);

export type DeliveriesQuery = z.output<ReturnType<typeof deliveriesQuery>>;

export const redeliverBody = lazily(() =>
  z.object({
    after: z.int().nonnegative(),
  }),
);

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

export const toPingResult = ({ response_status, error }: Attempt): z.input<typeof pingResultSchema> => ({
  response_status,
  error,
});

/** Must give the same bytes for every attempt and every endpoint. */
export function webhookOf(event: Pick<DueDelivery, "event_id" | "type" | "created_at" | "data">): Webhook {
  const body: z.input<typeof webhookSchema> = {
    id: event.event_id,
    type: event.type,
    timestamp: toTimestamp(event.created_at),
    data: event.data,
  };
  return { webhook_id: `evt_${event.event_id}`, body: JSON.stringify(body) };
}

/** A ping is not an event: its id is always 0, and each ping has its own webhook id. */
export function newPing(now: number): Webhook {
  const body: z.input<typeof webhookSchema> = { id: 0, type: "ping", timestamp: toTimestamp(now), data: {} };
  return { webhook_id: `ping_${crypto.randomUUID()}`, body: JSON.stringify(body) };
}
