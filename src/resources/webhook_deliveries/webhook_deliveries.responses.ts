import * as z from "zod";
import { id } from "../../http/wire.ts";
import { eventDataSchema } from "../events/events.responses.ts";

export const redeliverySchema = z.object({
  redelivered_count: z.int().nonnegative(),
  next_after: z.int().nullable(),
});

export const pingResultSchema = z.object({
  response_status: z.int().nullable(),
  error: z.string().nullable(),
});

export const deliverySchema = z.object({
  event_id: id,
  event_type: z.string(),
  attempts: z.int().nonnegative(),
  last_attempt_at: z.iso.datetime().nullable(),
  response_status: z.int().nullable(),
  error: z.string().nullable(),
  next_attempt_at: z.iso.datetime().nullable(),
});

export const deliveriesSchema = z.object({
  deliveries: z.array(deliverySchema),
  next_after: z.int().positive().nullable(),
});

/** What a receiver gets. */
export const webhookSchema = z.object({
  id: z.int().nonnegative(),
  type: z.string(),
  timestamp: z.iso.datetime(),
  data: eventDataSchema,
});
