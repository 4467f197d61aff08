import * as z from "zod";
import { id } from "../../http/wire.ts";

export const webhookEndpointSchema = z.object({
  id,
  url: z.string(),
  event_types: z.array(z.string()),
  is_active: z.boolean(),
  disabled_reason: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const webhookEndpointWithSecretSchema = webhookEndpointSchema.extend({ secret: z.string() });
