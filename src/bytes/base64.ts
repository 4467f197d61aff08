/** Standard base64 with padding (RFC 4648, section 4). */
export function base64Of(content: ArrayBuffer | Uint8Array): string {
  const bytes = new Uint8Array(content);
  let text = "";
  // A call takes only so many arguments.
  for (let n = 0; n < bytes.length; n += 8192) text += String.fromCharCode(...bytes.subarray(n, n + 8192));
  return btoa(text);
}

export const bytesOfBase64 = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
