import { hexOf } from "../../bytes/hex.ts";

/**
 * A UUID of version 8 as the draft makes it: the time when the call was first reported, its id, and a digest of the host. It is the same
 * whenever the same service makes it.
 *
 * @param people makes the UUID of the vCon that names only these people
 */
export async function uuidOfVcon(
  { id, created_at }: { id: number; created_at: number },
  address: string,
  people: readonly number[] = [],
): Promise<string> {
  const host = [people.join("-"), new URL(address).hostname].filter(Boolean).join(".");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-1", new TextEncoder().encode(host)));
  const time = created_at.toString(16).padStart(12, "0");
  const number = (id % 0x1000).toString(16).padStart(3, "0");
  // The two highest bits of the last half are the variant, and the digest follows them.
  const last = (BigInt(`0x${hexOf(digest.slice(0, 8))}`) >> 2n) | (1n << 63n);
  const hex = last.toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-8${number}-${hex.slice(0, 4)}-${hex.slice(4)}`;
}
