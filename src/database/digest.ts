import { base64url } from "jose";

const encoder = new TextEncoder();

/** The SHA-256 of a text. */
export async function digestBytes(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text)));
}

/** The SHA-256 of a text in hex, as it is stored. */
export async function digest(text: string): Promise<string> {
  return Array.from(await digestBytes(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of a stored digest. */
export function bytesOfDigest(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

/** Compares a secret with a digest, in a time that does not depend on where they differ. */
export async function matchesDigest(secret: string, expected: Uint8Array): Promise<boolean> {
  return crypto.subtle.timingSafeEqual(await digestBytes(secret), expected);
}

/** @param bytes how many random bytes, shown as base64url */
export function randomSecret(bytes: number): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(bytes)));
}
