import { base64url } from "jose";
import { hexOf } from "./hex.ts";

const encoder = new TextEncoder();

/** The SHA-256 of a text. */
export async function digestBytes(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text)));
}

/** The SHA-256 of a text in hex, as it is stored. */
export async function digest(text: string): Promise<string> {
  return hexOf(await digestBytes(text));
}

/** The HMAC-SHA-256 of each text in hex: without the secret, nobody can find out of which text by trying. */
export async function keyedDigests(secret: string, texts: string[]): Promise<string[]> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const sign = async (text: string) => await crypto.subtle.sign(algorithm, key, encoder.encode(text));
  return Promise.all(texts.map(async (text) => hexOf(new Uint8Array(await sign(text)))));
}

/** Compares a secret with a digest, in a time that does not depend on where they differ. */
export async function matchesDigest(secret: string, expected: Uint8Array): Promise<boolean> {
  return crypto.subtle.timingSafeEqual(await digestBytes(secret), expected);
}

/** @param bytes how many random bytes, shown as base64url */
export function randomSecret(bytes: number): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(bytes)));
}
