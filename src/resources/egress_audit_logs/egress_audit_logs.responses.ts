import * as z from "zod";
import { AUDIT_EVENTS } from "../../database/enums.ts";
import { id } from "../../http/wire.ts";

export const auditLogSchema = z.object({
  id,
  event: z.enum(AUDIT_EVENTS),
  user_id: id,
  object_changes: z.record(z.string(), z.tuple([z.unknown(), z.unknown()])).nullable(),
  created_at: z.iso.datetime(),
});
