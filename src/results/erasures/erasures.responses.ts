import { count } from "../../http/wire.ts";
import { ERASURES_COUNTED } from "../../limits.ts";
import { named } from "../../openapi/schemas.ts";
import { grouped } from "../../units.ts";

const LOOKED_THROUGH = `The request scans up to ${grouped(ERASURES_COUNTED)} of each.`;

export const erasureSchema = named("Erasure", "What a request erased of a person, and what is left.", {
  erased_count: count().meta({
    description: "The number of participations and planned visits from which this request erased the person.",
    example: 3,
  }),
  held_count: count().describe(
    `The number of the person's participations and planned visits that legal holds keep. ${LOOKED_THROUGH}`,
  ),
  ongoing_count: count().describe(
    `The number of the person's participations and planned visits that are left alone, because the person is waiting, or on a call that has not ended. A planned participant's calls all count until then. ${LOOKED_THROUGH}`,
  ),
  remaining_count: count().describe(
    `The number of participations and planned visits that are left for the next requests. ${LOOKED_THROUGH}`,
  ),
});
