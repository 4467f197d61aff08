import type { Webhooks } from "../../dist/client/external/types.gen.js";
import { WebhookVerificationError } from "./errors.ts";

/** What the service sends to a webhook endpoint. A later version of the service may send other types too: ignore those. */
export type WebhookEvent = Webhooks;

/** Those of the Fetch API, or of Node's requests. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

/** In seconds, as Standard Webhooks has it. */
const TOLERANCE = 5 * 60;

/**
 * The event in a webhook that the service has signed, and just sent.
 *
 * @param secret that of the endpoint (`whsec_…`). While it is rotated, the old one and the new one
 * @param body as it came, to the byte
 * @throws WebhookVerificationError if it is not from the service, was changed, or is more than five minutes old
 */
export async function verifyWebhook(
  secret: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    header(headers, `webhook-${name}`),
  ) as [string, string, string];
  requireJustSent(timestamp);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  for (const each of [secret].flat())
    if (await isSignedWith(each, signatures, signed)) return JSON.parse(new TextDecoder().decode(bytes));
  throw new WebhookVerificationError("No signature is right");
}

function header(headers: WebhookHeaders, name: string): string {
  const found =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const value = typeof found === "string" ? found : found?.[0];
  if (!value) throw new WebhookVerificationError(`The header ${name} is missing`);
  return value;
}

function requireJustSent(timestamp: string) {
  const distance = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^\d+$/.test(timestamp) || !(distance < TOLERANCE))
    throw new WebhookVerificationError("The webhook-timestamp is not of the last five minutes");
}

/** Whether one of the signatures is by this secret. The comparison takes as long wherever they differ. */
async function isSignedWith(secret: string, signatures: string, signed: Uint8Array<ArrayBuffer>) {
  const key = await crypto.subtle.importKey(
    "raw",
    fromBase64(secret.replace(/^whsec_/, "")),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  const verified = signatures
    .split(" ")
    .map((each) => each.split(","))
    .filter(([version]) => version === "v1")
    .map(([, signature = ""]) => crypto.subtle.verify("HMAC", key, fromBase64(signature), signed));
  return (await Promise.all(verified)).includes(true);
}

/** Nothing of a text that is no base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
