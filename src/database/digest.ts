import { sha256 } from "hono/utils/crypto";
import { base64url } from "jose";

const encoder = new TextEncoder();

/** What is stored of a secret: its SHA-256 in hex. */
export async function digest(secret: string): Promise<string> {
  const hex = await sha256(secret);
  if (hex === null) throw new Error("SHA-256 is not available");
  return hex;
}

/** Compares a secret with a stored digest, in a time that does not depend on where they differ. */
export async function matchesDigest(secret: string, storedDigest: string): Promise<boolean> {
  return crypto.subtle.timingSafeEqual(encoder.encode(await digest(secret)), encoder.encode(storedDigest));
}

/** @param bytes how many random bytes, shown as base64url */
export function randomSecret(bytes: number): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(bytes)));
}
