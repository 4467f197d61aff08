import type { Webhooks } from "../../dist/client/external/types.gen.js";
import { WebhookVerificationError } from "./errors.ts";

/** The body of a webhook. Later versions of the service may send other types of event: ignore the types that you do not know. */
export type WebhookEvent = Webhooks;

/** The headers of a Fetch API request, or of a Node.js `IncomingMessage`. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

/** In seconds, as in Standard Webhooks. */
const TOLERANCE = 5 * 60;

/**
 * Verifies a webhook's signature and age, and returns its event.
 *
 * @param secret the endpoint's secret (`whsec_…`); during a rotation, the old and the new one
 * @param body the raw bytes of the body, exactly as received
 * @throws TypeError if the secret is malformed, even if the webhook is invalid too
 * @throws WebhookVerificationError if the webhook is not from the service, was changed, or is more than five minutes old
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
  const signed = new Uint8Array(
    await new Blob([`${id}.${timestamp}.`, bytes as Uint8Array<ArrayBuffer>]).arrayBuffer(),
  );
  for (const key of keys)
    if (await isSignedWith(key, signatures, signed)) return JSON.parse(new TextDecoder().decode(bytes));
  throw new WebhookVerificationError("No signature matches");
}

/** Checks all secrets before using any: a malformed one must not surface only after the other is rotated out. */
function keysOf(secret: string | readonly string[]): Uint8Array<ArrayBuffer>[] {
  const secrets: readonly unknown[] = [secret].flat();
  if (secrets.length === 0) throw new TypeError("verifyWebhook needs a secret");
  return secrets.map((each, n) => {
    const key = typeof each === "string" ? fromBase64(each.replace(/^whsec_/, "")) : undefined;
    // The message must not contain the secret.
    if (!key?.length)
      throw new TypeError(
        `${Array.isArray(secret) ? `secret[${n}]` : "secret"}: must be the endpoint's secret, whsec_ and then base64`,
      );
    return key;
  });
}

/** Joins several values with spaces, into one list of signatures. */
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
    throw new WebhookVerificationError("The webhook-timestamp is not within the last five minutes");
}

/** Whether one of the signatures was made with this secret. `crypto.subtle.verify` compares in constant time. */
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

export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
