import * as z from "zod";
import { externalReference, flag } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import type { erasureSchema } from "./erasures.responses.ts";

export const erasureQuery = lazily(() =>
  z.object({ external_reference: externalReference(), texts: flag() }),
);

export type ErasureQuery = z.output<ReturnType<typeof erasureQuery>>;

export type Erasure = z.input<typeof erasureSchema>;

export const toErasure = ({
  erased_count,
  held_count,
  ongoing_count,
  remaining_count,
}: Erasure): Erasure => ({
  erased_count,
  held_count,
  ongoing_count,
  remaining_count,
});
