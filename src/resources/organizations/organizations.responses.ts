import * as z from "zod";
import { id } from "../../http/wire.ts";

export const organizationSchema = z.object({
  id,
  name: z.string(),
  slug: z.string(),
  recording_retention_days: z.int().nullable(),
  transcript_retention_days: z.int().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
