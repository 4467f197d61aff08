import { multilineText } from "../../http/wire.ts";
import { MAX_CORRECTION_REASON_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";

export const correctionReason = lazily(() => multilineText(MAX_CORRECTION_REASON_LENGTH));
