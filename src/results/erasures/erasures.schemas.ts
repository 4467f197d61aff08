import * as z from "zod";
import { externalReference, flag } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import type { erasureSchema } from "./erasures.responses.ts";

export const erasureQuery = lazily(() =>
  z.object({ external_reference: externalReference(), texts: flag() }),
);

export type ErasureQuery = z.output<ReturnType<typeof erasureQuery>>;

export const toErasure = (row: z.input<typeof erasureSchema>): z.input<typeof erasureSchema> => ({
  erased_count: row.erased_count,
  held_count: row.held_count,
  ongoing_count: row.ongoing_count,
  remaining_count: row.remaining_count,
});
