import { text } from "../../http/wire.ts";
import { MAX_CONSENT_METHOD_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";

export const consentMethod = lazily(() => text(MAX_CONSENT_METHOD_LENGTH));
