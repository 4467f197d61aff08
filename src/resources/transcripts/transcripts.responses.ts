import * as z from "zod";
import { id } from "../../http/wire.ts";

export const transcriptLineSchema = z.object({
  id,
  text: z.string(),
  start_time: z.number(),
  end_time: z.number(),
  display_name: z.string(),
});

export const transcriptSchema = z.object({
  id,
  summary: z.string(),
  is_final: z.boolean(),
  transcript_lines: z.array(transcriptLineSchema),
});
