import * as z from "zod";
import { emailAddress, id } from "../../http/wire.ts";

export const bulkInviteSchema = z.object({
  id,
  status: z.enum(["pending", "completed"]),
  total_count: z.int(),
  created_count: z.int(),
  failed_count: z.int(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const bulkInviteResponseSchema = z.object({ bulk_invite: bulkInviteSchema });

export const bulkInviteFailureSchema = z.object({
  row: z.int().nonnegative(),
  email: emailAddress.nullable(),
  error: z.string(),
});

export const bulkInviteProgressSchema = bulkInviteSchema.extend({
  failures: z.array(bulkInviteFailureSchema),
});

export const bulkInviteProgressResponseSchema = z.object({ bulk_invite: bulkInviteProgressSchema });
