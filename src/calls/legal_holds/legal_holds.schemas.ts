import * as z from "zod";
import { multilineText } from "../../http/wire.ts";
import { MAX_HOLD_REASON_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";

export const holdReason = lazily(() => multilineText(MAX_HOLD_REASON_LENGTH).nullable());

export const holdCallBody = lazily(() =>
  z.object({ legal_hold: z.object({ reason: holdReason() }).partial() }),
);

export type HoldReport = z.output<ReturnType<typeof holdCallBody>>["legal_hold"];
