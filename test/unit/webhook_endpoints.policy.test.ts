import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { urlFault } from "../../src/resources/webhook_endpoints/webhook_endpoints.policy.ts";

const DEPLOYED = {
  ownUrl: "https://visits.example.com/api/external/webhook_endpoints",
  allowsLoopback: false,
};
const LOCAL = { ownUrl: "http://localhost:8787/api/external/webhook_endpoints", allowsLoopback: true };

const NOT_A_URL = "must be an https URL such as https://hooks.example.com/visits";
const CREDENTIALS = "must not contain a user name or a password";
const OWN = "must not lead to this service";
const SCHEME = "must begin with https://";
const PORT = "must use port 443";
const ADDRESS = "must have a host name, not an IP address";
const NAME = "must have a public host name: with a dot, and not under .local, .internal or .localhost";

describe("A webhook may go to", () => {
  it.each([
    "https://hooks.example.com",
    "https://hooks.example.com/",
    "https://hooks.example.com/visits?clinic=7#part",
    "https://hooks.example.com:443/visits",
    "HTTPS://Hooks.Example.COM/Visits",
    "https://hooks.example.com./visits",
    "https://example.io",
    "https://a.b.c.d.e.example.com",
    "https://1.example.com",
    "https://127.0.0.1.example.com",
    "https://_hooks.my-clinic.example",
    "https://bücher.example",
    "https://山田.jp",
    "https://xn--bcher-kva.example",
    "https://clinic.xn--p1ai",
    "https://ｈｏｏｋｓ.example.com",
    "https://local.example.com",
    "https://internal.example.com",
    "https://localhost.example.com",
    "https://mylocal.example",
    "https://example.notlocal",
    "https://hooks.visits.example.com",
    "https://example.com",
    `https://${"a".repeat(63)}.example.com`,
    "https://hooks.example.com/http://localhost",
    "https://hooks.example.com/@visits",
  ])("%s", (url) => {
    expect(urlFault(url, DEPLOYED)).toBeUndefined();
    expect(urlFault(url, LOCAL)).toBeUndefined();
    expect(urlFault(url, { allowsLoopback: false })).toBeUndefined();
  });
});

describe("A webhook may not go to", () => {
  it.each([
    // What is no URL.
    ["", NOT_A_URL],
    ["hooks.example.com", NOT_A_URL],
    ["/visits", NOT_A_URL],
    ["//hooks.example.com", NOT_A_URL],
    ["https://", NOT_A_URL],
    ["https://exa mple.com", NOT_A_URL],
    ["https://example.com:99999", NOT_A_URL],
    ["https://256.256.256.256", NOT_A_URL],
    ["https://1.2.3.4.5", NOT_A_URL],
    ["https://[::1", NOT_A_URL],
    ["https://%00.example.com", NOT_A_URL],
    // Other schemes.
    ["http://hooks.example.com", SCHEME],
    ["http://hooks.example.com:443", SCHEME],
    ["ftp://hooks.example.com", SCHEME],
    ["ws://hooks.example.com", SCHEME],
    ["wss://hooks.example.com", SCHEME],
    ["file:///etc/passwd", SCHEME],
    ["javascript:alert(1)", SCHEME],
    ["data:text/plain,hello", SCHEME],
    ["blob:https://hooks.example.com/1", SCHEME],
    ["mailto:ada@example.com", SCHEME],
    ["hooks.example.com:443", SCHEME],
    // Credentials.
    ["https://user@hooks.example.com", CREDENTIALS],
    ["https://user:secret@hooks.example.com", CREDENTIALS],
    ["https://:secret@hooks.example.com", CREDENTIALS],
    ["https://hooks.example.com@169.254.169.254", CREDENTIALS],
    // Ports.
    ["https://hooks.example.com:80", PORT],
    ["https://hooks.example.com:8443", PORT],
    ["https://hooks.example.com:22/visits", PORT],
    ["https://hooks.example.com:0", PORT],
    // IPv4, in all its forms.
    ["https://192.0.2.7", ADDRESS],
    ["https://8.8.8.8", ADDRESS],
    ["https://10.0.0.1", ADDRESS],
    ["https://172.16.0.1", ADDRESS],
    ["https://192.168.1.1", ADDRESS],
    ["https://169.254.169.254/latest/meta-data", ADDRESS],
    ["https://100.64.0.1", ADDRESS],
    ["https://0.0.0.0", ADDRESS],
    ["https://0", ADDRESS],
    ["https://255.255.255.255", ADDRESS],
    ["https://127.0.0.1", ADDRESS],
    ["https://127.0.0.1.", ADDRESS],
    ["https://127.1", ADDRESS],
    ["https://0x7f.1", ADDRESS],
    ["https://0x7f000001", ADDRESS],
    ["https://2130706433", ADDRESS],
    ["https://017700000001", ADDRESS],
    ["https://0177.0.0.1", ADDRESS],
    ["https://１２７.０.０.１", ADDRESS],
    ["https://127。0。0。1", ADDRESS],
    ["https://①②⑦.⓪.⓪.①", ADDRESS],
    ["https://%31%32%37.0.0.1", ADDRESS],
    ["https:127.0.0.1", ADDRESS],
    ["https:\\\\127.0.0.1\\visits", ADDRESS],
    ["https:///127.0.0.1", ADDRESS],
    // IPv6.
    ["https://[::1]", ADDRESS],
    ["https://[::]", ADDRESS],
    ["https://[::ffff:127.0.0.1]", ADDRESS],
    ["https://[::ffff:7f00:1]", ADDRESS],
    ["https://[0:0:0:0:0:0:0:1]", ADDRESS],
    ["https://[fe80::1]", ADDRESS],
    ["https://[fd00::1]", ADDRESS],
    ["https://[2001:db8::1]", ADDRESS],
    // Names that are not public.
    ["https://localhost", NAME],
    ["https://localhost.", NAME],
    ["https://LOCALHOST", NAME],
    ["https://ｌｏｃａｌｈｏｓｔ", NAME],
    ["https://%6c%6f%63%61%6c%68%6f%73%74", NAME],
    ["https://intranet", NAME],
    ["https://com", NAME],
    ["https://com.", NAME],
    ["https://printer.local", NAME],
    ["https://printer.local.", NAME],
    ["https://printer.LOCAL", NAME],
    ["https://printer.ｌｏｃａｌ", NAME],
    ["https://printer。local", NAME],
    ["https://metadata.google.internal", NAME],
    ["https://metadata.google.internal.", NAME],
    ["https://visits.localhost", NAME],
    ["https://a.b.localhost.", NAME],
    ["https://.example.com", NAME],
    ["https://example..com", NAME],
    ["https://example.com..", NAME],
    ["https://localhost..", NAME],
    ["https://-.example.com", NAME],
    ["https://exa$mple.com", NAME],
    [`https://${"a".repeat(64)}.example.com`, NAME],
    [`https://${"a.".repeat(130)}com`, NAME],
    // The service itself, at each of its ports.
    ["https://visits.example.com", OWN],
    ["https://visits.example.com/api/external/waiting_rooms", OWN],
    ["https://VISITS.example.com.", OWN],
    ["https://ｖｉｓｉｔｓ.example.com", OWN],
    ["https://visits.example.com:8443", OWN],
    ["http://visits.example.com", OWN],
  ])("%s", (url, reason) => {
    expect(urlFault(url, DEPLOYED)).toBe(reason);
  });
});

describe("A service that is reached by several names", () => {
  const ownHosts = ["http://visits.example.org", "http://localhost:8080"];

  it.each([
    ["https://visits.example.org/api", OWN],
    ["https://VISITS.example.org.", OWN],
    ["https://visits.example.org:8443", OWN],
    ["https://visits.example.com", OWN],
    ["https://other.example.org", undefined],
  ])("is not reached by a webhook by any of them: %s", (url, reason) => {
    expect(urlFault(url, { ...DEPLOYED, ownHosts })).toBe(reason);
  });

  it.each([
    ["http://127.0.0.1:8080", OWN],
    ["http://localhost:8787", OWN],
    ["http://localhost:8081", undefined],
  ])("is known on loopback by its ports: %s", (url, reason) => {
    expect(urlFault(url, { ...LOCAL, ownHosts })).toBe(reason);
  });
});

describe("On a developer's machine a webhook", () => {
  it.each([
    "http://localhost",
    "http://localhost:3000/hooks",
    "https://localhost:3000/hooks",
    "http://localhost.:3000",
    "http://127.0.0.1:3000",
    "http://127.9.9.9:3000",
    "http://127.1:3000",
    "http://0x7f.1:3000",
    "http://2130706433:3000",
    "http://[::1]:3000",
    "http://localhost:8788",
  ])("may go to %s, which it may not elsewhere", (url) => {
    expect(urlFault(url, LOCAL)).toBeUndefined();
    expect(urlFault(url, DEPLOYED)).toBeDefined();
  });

  it.each([
    ["http://localhost:8787", OWN],
    ["http://localhost:8787/api/external/waiting_rooms", OWN],
    ["http://127.0.0.1:8787", OWN],
    ["http://[::1]:8787", OWN],
    ["http://localhost.:8787", OWN],
    ["https://localhost:8787", OWN],
    ["http://user@localhost:3000", CREDENTIALS],
    ["ftp://localhost:3000", SCHEME],
    ["http://hooks.example.com", SCHEME],
    ["http://printer.local", SCHEME],
    ["http://10.0.0.1:3000", SCHEME],
    ["http://[::ffff:7f00:1]:3000", SCHEME],
    ["https://[::ffff:7f00:1]", ADDRESS],
    ["http://visits.localhost:3000", SCHEME],
    ["https://visits.localhost", NAME],
    ["https://hooks.example.com:8443", PORT],
    ["https://10.0.0.1", ADDRESS],
    ["https://0.0.0.0", ADDRESS],
  ])("may not go to %s", (url, reason) => {
    expect(urlFault(url, LOCAL)).toBe(reason);
  });

  it("may not go to the service at its default port either", () => {
    const surroundings = { ownUrl: "http://localhost/api", allowsLoopback: true };
    expect(urlFault("http://127.0.0.1", surroundings)).toBe(OWN);
    expect(urlFault("http://127.0.0.1:80", surroundings)).toBe(OWN);
    expect(urlFault("https://127.0.0.1", surroundings)).toBeUndefined();
  });
});

describe("Whatever its text, a URL", () => {
  const number = (max: number) => fc.integer({ min: 0, max });
  const part = (value: number) =>
    fc.constantFrom(String(value), `0x${value.toString(16)}`, `0${value.toString(8)}`);
  const address = fc
    .tuple(number(255), number(255), number(255), number(255))
    .chain(([a, b, c, d]) =>
      fc.oneof(
        fc.tuple(part(a), part(b), part(c), part(d)),
        fc.tuple(part(a), part(b), part(c * 256 + d)),
        fc.tuple(part(a), part((b * 256 + c) * 256 + d)),
        fc.tuple(part(((a * 256 + b) * 256 + c) * 256 + d)),
      ),
    )
    .map((parts) => parts.join("."));

  it("with an IPv4 address is refused, however that is written", () => {
    fc.assert(
      fc.property(address, fc.constantFrom("", "."), (host, dot) => {
        expect(urlFault(`https://${host}${dot}/visits`, DEPLOYED)).toBe(ADDRESS);
      }),
    );
  });

  it("with an IPv6 address is refused", () => {
    fc.assert(
      fc.property(fc.ipV6(), (host) => {
        expect(urlFault(`https://[${host}]/visits`, DEPLOYED)).toBe(ADDRESS);
      }),
    );
  });

  it("is refused, or leads by https to port 443 of a name with a dot", () => {
    const text = fc.oneof(
      fc.webUrl(),
      fc.string().map((rest) => `https://${rest}`),
      fc.string(),
    );
    fc.assert(
      fc.property(text, (url) => {
        if (urlFault(url, DEPLOYED) !== undefined) return;
        const { protocol, hostname, port, username, password } = new URL(url);
        expect({ protocol, port, username, password }).toEqual({
          protocol: "https:",
          port: "",
          username: "",
          password: "",
        });
        expect(hostname).toMatch(/^[\w-]+(\.[\w-]+)+\.?$/);
        expect(hostname).not.toMatch(/^\d+(\.\d+)*$/);
      }),
      { numRuns: 1000 },
    );
  });
});
