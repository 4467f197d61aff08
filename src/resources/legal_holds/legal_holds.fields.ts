import { multilineText } from "../../http/wire.ts";
import { MAX_HOLD_REASON_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";

export const holdReason = lazily(() => multilineText(MAX_HOLD_REASON_LENGTH).nullable());
