/**
 * The network of an address, for rate limits. An IPv6 connection has at least 64 bits of addresses, and could send each
 * request from a different one. An IPv4-mapped IPv6 address counts as its IPv4 address.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  // The URL parser normalizes an address: lower case, no leading zeros, no IPv4 notation.
  const written = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? "";
  const [start = [], end = []] = written.split("::").map((part) => part.split(":").filter(Boolean));
  const groups = [...start, ...Array(8 - start.length - end.length).fill("0"), ...end];
  if (groups.slice(0, 6).join() === "0,0,0,0,0,ffff") {
    const bytes = groups.slice(6).flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255]);
    return bytes.join(".");
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}
