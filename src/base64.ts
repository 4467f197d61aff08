/** Standard base64 with padding (RFC 4648, section 4). */
export const base64Of = (bytes: ArrayBuffer | Uint8Array): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)));
