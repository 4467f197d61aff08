import { multilineText } from "../../http/wire.ts";
import { MAX_ERROR_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";

export const egressError = lazily(() => multilineText(MAX_ERROR_LENGTH).nullable());
