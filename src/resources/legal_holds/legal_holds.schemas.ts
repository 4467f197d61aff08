import * as z from "zod";
import { multilineText } from "../../http/wire.ts";
import { MAX_HOLD_REASON_LENGTH } from "../../limits.ts";

export const holdCallBody = z.object({
  legal_hold: z.object({ reason: multilineText(MAX_HOLD_REASON_LENGTH).nullable() }).partial(),
});

export type HoldReport = z.output<typeof holdCallBody>["legal_hold"];
