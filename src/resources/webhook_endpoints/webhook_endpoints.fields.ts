import { HTTP_URL, text } from "../../http/wire.ts";
import { MAX_WEBHOOK_URL_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";

/** Which URLs are allowed depends on where the service stands: see webhook_endpoints.policy.ts. */
export const webhookUrl = lazily(() =>
  text(MAX_WEBHOOK_URL_LENGTH).meta({ override: { pattern: HTTP_URL } }),
);
