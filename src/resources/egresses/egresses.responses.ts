import * as z from "zod";
import { EGRESS_DELETED, EGRESS_STATUSES } from "../../database/enums.ts";
import { id } from "../../http/wire.ts";

export const egressSchema = z.object({
  id,
  egress_id: z.string(),
  status: z.string().meta({ examples: [...EGRESS_STATUSES, EGRESS_DELETED] }),
  error: z.string().nullable(),
  is_stopped: z.boolean(),
  ended_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const egressWithUrlSchema = egressSchema.extend({ url: z.url().nullable() });
