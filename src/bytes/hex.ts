/* D1 transfers a BLOB as an array of numbers. As hex (`hex(…)` and `unhex(…)` in SQL), it takes half as many bytes. */

const DIGITS = new TextEncoder().encode("0123456789abcdef");
const decoder = new TextDecoder();

export function hexOf(bytes: Uint8Array): string {
  const hex = new Uint8Array(2 * bytes.length);
  bytes.forEach((byte, n) => {
    hex[2 * n] = DIGITS[byte >> 4] as number;
    hex[2 * n + 1] = DIGITS[byte & 15] as number;
  });
  return decoder.decode(hex);
}

export function bytesOfHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let n = 0; n < bytes.length; n++) bytes[n] = (digitAt(hex, 2 * n) << 4) | digitAt(hex, 2 * n + 1);
  return bytes;
}

/** The low four bits of a decimal digit are its value. For a letter they count from 1, and only letters have the bit of value 64. */
function digitAt(hex: string, position: number): number {
  const code = hex.charCodeAt(position);
  return (code & 15) + 9 * (code >> 6);
}
