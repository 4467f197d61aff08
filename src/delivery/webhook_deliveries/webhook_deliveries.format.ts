import { base64Of, bytesOfBase64 } from "../../bytes/base64.ts";

/* In the Standard Webhooks format. The client package includes this file, because its command `listen` sends webhooks too. */

/** `webhook_id` must be the same for every attempt. */
export interface Webhook {
  webhook_id: string;
  body: string;
}

interface SentEvent {
  id: number;
  type: string;
  timestamp: string;
  data: object;
}

/** Must give the same bytes for every attempt and every endpoint. */
export const webhookOf = ({ id, type, timestamp, data }: SentEvent): Webhook => ({
  webhook_id: `evt_${id}`,
  body: JSON.stringify({ id, type, timestamp, data }),
});

/** @param secrets one signature for each: during a rotation, the receiver may know only one of them */
export async function webhookHeaders(
  { webhook_id, body }: Webhook,
  secrets: string[],
  now: number,
): Promise<Record<string, string>> {
  const timestamp = Math.floor(now / 1000);
  const content = `${webhook_id}.${timestamp}.${body}`;
  const signatures = await Promise.all(secrets.map((secret) => signWith(secret, content)));
  return {
    "Content-Type": "application/json",
    "User-Agent": "OrganizationVideoVisitService/1.0",
    "webhook-id": webhook_id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}

async function signWith(secret: string, content: string): Promise<string> {
  const bytes = bytesOfBase64(secret.replace(/^whsec_/, ""));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(content));
  return `v1,${base64Of(signature)}`;
}

/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;

export const newWebhookSecret = (): string =>
  `whsec_${base64Of(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))}`;
