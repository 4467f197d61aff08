import { base64url } from "jose";
import { hexOf } from "./hex.ts";

const encoder = new TextEncoder();

export async function digestBytes(content: BufferSource | string): Promise<Uint8Array> {
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** In hex, the format in which digests are stored. */
export async function digest(text: string): Promise<string> {
  return hexOf(await digestBytes(text));
}

/** The HMAC-SHA-256 of each text in hex. Without the secret, nobody can find the texts by trying candidates. */
export async function keyedDigests(secret: string, texts: string[]): Promise<string[]> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const sign = async (text: string) => await crypto.subtle.sign(algorithm, key, encoder.encode(text));
  return Promise.all(texts.map(async (text) => hexOf(new Uint8Array(await sign(text)))));
}

/** Compares in constant time. */
export async function matchesDigest(secret: string, expected: Uint8Array): Promise<boolean> {
  return crypto.subtle.timingSafeEqual(await digestBytes(secret), expected);
}

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/**
 * As base64url. The last digit has spare bits: if the lowest is set, the first two bytes name the shard of the secret's record.
 *
 * @param bytes must not be a multiple of three, or there are no spare bits
 */
export function randomSecret(bytes: number, shard = 0): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  if (shard === 0) return base64url.encode(random);
  random.set([shard >> 8, shard & 0xff]);
  const text = base64url.encode(random);
  return text.slice(0, -1) + BASE64URL[BASE64URL.indexOf(text.slice(-1)) | 1];
}

/** An arbitrary shard, or 0, for a string that `randomSecret` did not make from this many bytes. */
export function shardOfSecret(text: string, bytes: number): number {
  const namesShard = text.length === Math.ceil((bytes * 8) / 6) && BASE64URL.indexOf(text.slice(-1)) & 1;
  if (!namesShard) return 0;
  const [first = 0, second = 0, third = 0] = [...text.slice(0, 3)].map((digit) => BASE64URL.indexOf(digit));
  return (first << 10) | (second << 4) | (third >> 2);
}
