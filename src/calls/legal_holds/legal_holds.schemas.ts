import * as z from "zod";
import { unprocessable } from "../../http/errors.ts";
import { unchangeable } from "../../http/unchangeable.ts";
import { multilineText } from "../../http/wire.ts";
import { MAX_HOLD_REASON_LENGTH } from "../../limits.ts";

export const holdReason = () => multilineText(MAX_HOLD_REASON_LENGTH).nullable();

export const holdCallBody = () =>
  z.object({ legal_hold: z.object({ reason: holdReason() }).partial() }).register(unchangeable, HOLD_STAYS);

export type HoldReport = z.output<ReturnType<typeof holdCallBody>>["legal_hold"];

const HOLD_STAYS = {
  began_at: "a hold begins with the request that places it",
  begun_by: "it follows who sends the request",
};

export const holdOfPlatform = () =>
  unprocessable(
    "hold_of_platform",
    "The platform began this legal hold: only the platform can change or end it",
  );
