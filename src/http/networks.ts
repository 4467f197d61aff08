/**
 * Whose an address is, as far as it shows. Who has an IPv6 connection has a network of 64 bits and more, and could send
 * each request from another address of it. An IPv4 address in the form of IPv6 is itself.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  // The URL parser writes an address in one form only: lower case, no leading zeros, no IPv4.
  const written = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? "";
  const [start = [], end = []] = written.split("::").map((part) => part.split(":").filter(Boolean));
  const groups = [...start, ...Array(8 - start.length - end.length).fill("0"), ...end];
  if (groups.slice(0, 6).join() === "0,0,0,0,0,ffff") {
    const bytes = groups.slice(6).flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255]);
    return bytes.join(".");
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}
