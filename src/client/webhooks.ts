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
 * @throws TypeError for a secret that cannot be one, whatever came
 * @throws WebhookVerificationError if it is not from the service, was changed, or is more than five minutes old
 */
export async function verifyWebhook(
  secret: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
): Promise<WebhookEvent> {
  const keys = keysOf(secret);
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    header(headers, `webhook-${name}`),
  ) as [string, string, string];
  requireJustSent(timestamp);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  for (const key of keys)
    if (await isSignedWith(key, signatures, signed)) return JSON.parse(new TextDecoder().decode(bytes));
  throw new WebhookVerificationError("No signature is right");
}

/** All of them are looked at first: one that was forgotten must not show only when the other is rotated out. */
function keysOf(secret: string | readonly string[]): Uint8Array<ArrayBuffer>[] {
  const secrets: readonly unknown[] = [secret].flat();
  if (secrets.length === 0) throw new TypeError("verifyWebhook needs a secret");
  return secrets.map((each, n) => {
    const key = typeof each === "string" ? fromBase64(each.replace(/^whsec_/, "")) : undefined;
    // Never with the value.
    if (!key?.length)
      throw new TypeError(
        `${Array.isArray(secret) ? `secret[${n}]` : "secret"}: must be the endpoint's secret, whsec_ and then base64`,
      );
    return key;
  });
}

/** Several values are one list, as where HTTP libraries join them. */
function header(headers: WebhookHeaders, name: string): string {
  const found =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const value = typeof found === "string" ? found : found?.join(" ");
  if (!value) throw new WebhookVerificationError(`The header ${name} is missing`);
  return value;
}

function requireJustSent(timestamp: string) {
  const distance = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^\d+$/.test(timestamp) || !(distance < TOLERANCE))
    throw new WebhookVerificationError("The webhook-timestamp is not of the last five minutes");
}

/** Whether one of the signatures is by this secret. The comparison takes as long wherever they differ. */
async function isSignedWith(
  secret: Uint8Array<ArrayBuffer>,
  signatures: string,
  signed: Uint8Array<ArrayBuffer>,
) {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
    "verify",
  ]);
  const verified = signatures
    .split(" ")
    .map((each) => each.split(","))
    .filter(([version]) => version === "v1")
    .map(([, signature = ""]) => fromBase64(signature))
    .map((signature) => signature !== undefined && crypto.subtle.verify("HMAC", key, signature, signed));
  return (await Promise.all(verified)).includes(true);
}

/** Undefined of a text that is no base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
