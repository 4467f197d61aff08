import fc from "fast-check";
import { expect, it } from "vitest";
import { networkOf } from "../../../src/http/rate_limits.ts";

it.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:0001:02:0:0:0:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::", "2001:db8:1:2::/64"],
  ["2001:db8::1:2", "2001:db8:0:0::/64"],
  ["2001:db8:0:0:1::", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:0201", "192.0.2.1"],
  ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
  ["", ""],
])("networkOf maps %s to %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

it.each(["1:2", "::g", "1::2::3", ":", "::1]/", "fe80::1%eth0"])(
  "networkOf maps %s, which is not an address, to some network",
  (text) => {
    expect(networkOf(text)).toEqual(expect.any(String));
  },
);

const group = fc.integer({ min: 0, max: 0xffff });

/** Writes an address with its first run of zeros left out. */
const written = (groups: number[]) => {
  const hex = groups.map((each) => each.toString(16));
  const from = groups.indexOf(0);
  if (from < 0) return hex.join(":");
  let to = from;
  while (groups[to] === 0) to++;
  return `${hex.slice(0, from).join(":")}::${hex.slice(to).join(":")}`;
};

it("networkOf gives two IPv6 addresses one network exactly if their first 64 bits are equal, however they are written", () => {
  const half = fc.array(fc.oneof(group, fc.constant(0)), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(half, half, half, half, (network, other, host, otherHost) => {
      fc.pre(network.some(Boolean) && other.some(Boolean));
      const one = networkOf(written([...network, ...host]));
      expect(
        networkOf([...network, ...otherHost].map((each) => each.toString(16).padStart(4, "0")).join(":")),
      ).toBe(one);
      expect(networkOf(written([...other, ...host])) === one).toBe(network.join() === other.join());
    }),
    { numRuns: 1000 },
  );
});
