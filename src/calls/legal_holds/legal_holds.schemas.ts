import * as z from "zod";
import { unchangeable } from "../../http/unchangeable.ts";
import { multilineText } from "../../http/wire.ts";
import { MAX_HOLD_REASON_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import { HOLD_STAYS } from "./legal_holds.refusals.ts";

export const holdReason = lazily(() => multilineText(MAX_HOLD_REASON_LENGTH).nullable());

export const holdCallBody = lazily(() =>
  z.object({ legal_hold: z.object({ reason: holdReason() }).partial() }).register(unchangeable, HOLD_STAYS),
);

export type HoldReport = z.output<ReturnType<typeof holdCallBody>>["legal_hold"];
