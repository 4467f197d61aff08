import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { urlFault } from "../../../src/delivery/webhook_endpoints/webhook_endpoints.policy.ts";
import { words } from "../../support/words.ts";

const DEPLOYED = {
  ownUrl: "https://visits.example.com/api/external/webhook_endpoints",
  allowsLoopback: false,
};
const LOCAL = { ownUrl: "http://localhost:8787/api/external/webhook_endpoints", allowsLoopback: true };

const NOT_A_URL = "must be an https URL such as https://hooks.example.com/visits";
const CREDENTIALS = "must not contain a user name or a password";
const OWN = "must not point to this service";
const SCHEME = "must begin with https://";
const PORT = "must use port 443";
const ADDRESS = "must have a host name, not an IP address";
const NAME =
  "must have a public host name: with a dot, and not under .local, .internal, .localhost, .lan, .home.arpa, .svc, .corp, .home, .mail, .intranet, .private, .test, .onion, .alt, .example or .invalid";

const refusedAs = (reason: string) => (text: TemplateStringsArray) =>
  words(text).map((url) => [url, reason] as const);

it.each([
  ...words`
    https://hooks.example.com https://hooks.example.com/ https://hooks.example.com/visits?clinic=7#part
    https://hooks.example.com:443/visits HTTPS://Hooks.Example.COM/Visits
    https://hooks.example.com./visits https://example.io https://a.b.c.d.e.example.com
    https://1.example.com https://127.0.0.1.example.com https://_hooks.my-clinic.example.com
    https://bücher.example.com https://山田.jp https://xn--bcher-kva.example.com https://clinic.xn--p1ai
    https://ｈｏｏｋｓ.example.com https://local.example.com https://internal.example.com
    https://localhost.example.com https://mylocal.example.com https://example.notlocal
    https://hooks.visits.example.com https://example.com https://hooks.example.com/http://localhost
    https://hooks.example.com/@visits`,
  `https://${"a".repeat(63)}.example.com`,
])("urlFault accepts %s", (url) => {
  expect(urlFault(url, DEPLOYED)).toBeUndefined();
  expect(urlFault(url, LOCAL)).toBeUndefined();
  expect(urlFault(url, { allowsLoopback: false })).toBeUndefined();
});

it.each<readonly [url: string, reason: string]>([
  // Not a URL.
  ...refusedAs(NOT_A_URL)`
    hooks.example.com /visits //hooks.example.com https:// https://example.com:99999
    https://256.256.256.256 https://1.2.3.4.5 https://[::1 https://%00.example.com`,
  ["", NOT_A_URL],
  ["https://exa mple.com", NOT_A_URL],
  // Other schemes.
  ...refusedAs(SCHEME)`
    http://hooks.example.com http://hooks.example.com:443 ftp://hooks.example.com ws://hooks.example.com
    wss://hooks.example.com file:///etc/passwd javascript:alert(1) data:text/plain,hello
    blob:https://hooks.example.com/1 mailto:ada@example.com hooks.example.com:443`,
  // Credentials.
  ...refusedAs(CREDENTIALS)`
    https://user@hooks.example.com https://user:secret@hooks.example.com
    https://:secret@hooks.example.com https://hooks.example.com@169.254.169.254`,
  // Ports.
  ...refusedAs(PORT)`
    https://hooks.example.com:80 https://hooks.example.com:8443 https://hooks.example.com:22/visits
    https://hooks.example.com:0`,
  // Addresses in forms that the properties below do not write.
  ...refusedAs(ADDRESS)`
    https://169.254.169.254/latest/meta-data https://0 https://１２７.０.０.１ https://127。0。0。1
    https://①②⑦.⓪.⓪.① https://%31%32%37.0.0.1 https:127.0.0.1 https:\\127.0.0.1\visits https:///127.0.0.1
    https://[::1] https://[::ffff:127.0.0.1]`,
  // Names that are not public.
  ...refusedAs(NAME)`
    https://localhost https://localhost. https://LOCALHOST https://ｌｏｃａｌｈｏｓｔ
    https://%6c%6f%63%61%6c%68%6f%73%74 https://intranet https://com https://com. https://printer.local
    https://printer.local. https://printer.LOCAL https://printer.ｌｏｃａｌ https://printer。local
    https://metadata.google.internal https://metadata.google.internal. https://visits.localhost
    https://nas.lan https://nas.lan. https://box.home.arpa https://home.arpa https://visits.default.svc
    https://erp.corp https://nas.home https://portal.intranet https://hooks.private https://hooks.test https://abc.onion
    https://hooks.example https://hooks.invalid https://hooks.alt https://hooks.mail
    https://a.b.localhost. https://.example.com https://example..com https://example.com..
    https://localhost.. https://-.example.com https://exa$mple.com`,
  [`https://${"a".repeat(64)}.example.com`, NAME],
  [`https://${"a.".repeat(130)}com`, NAME],
  // The service itself, on any port.
  ...refusedAs(OWN)`
    https://visits.example.com https://visits.example.com/api/external/waiting_rooms
    https://VISITS.example.com. https://ｖｉｓｉｔｓ.example.com https://visits.example.com:8443
    http://visits.example.com`,
])("urlFault refuses %s", (url, reason) => {
  expect(urlFault(url, DEPLOYED)).toBe(reason);
});

it.each([
  [DEPLOYED, "https://visits.example.org/api", OWN],
  [DEPLOYED, "https://VISITS.example.org.", OWN],
  [DEPLOYED, "https://visits.example.org:8443", OWN],
  [DEPLOYED, "https://visits.example.com", OWN],
  [DEPLOYED, "https://other.example.org", undefined],
  [LOCAL, "http://127.0.0.1:8080", OWN],
  [LOCAL, "http://localhost:8787", OWN],
  [LOCAL, "http://localhost:8081", undefined],
])(
  "urlFault refuses all names of a service with several, and its own ports on loopback: %o, %s",
  (of, url, reason) => {
    const ownHosts = ["http://visits.example.org", "http://localhost:8080"];
    expect(urlFault(url, { ...of, ownHosts })).toBe(reason);
  },
);

describe("urlFault on a developer's machine", () => {
  it.each(words`
      http://localhost http://localhost:3000/hooks https://localhost:3000/hooks http://localhost.:3000 http://127.0.0.1:3000
      http://127.9.9.9:3000 http://127.1:3000 http://0x7f.1:3000 http://2130706433:3000 http://[::1]:3000 http://localhost:8788`)(
    "accepts %s, which it refuses elsewhere",
    (url) => {
      expect(urlFault(url, LOCAL)).toBeUndefined();
      expect(urlFault(url, DEPLOYED)).toBeDefined();
    },
  );

  it.each<readonly [url: string, reason: string]>([
    ...refusedAs(OWN)`
      http://localhost:8787 http://localhost:8787/api/external/waiting_rooms http://127.0.0.1:8787
      http://[::1]:8787 http://localhost.:8787 https://localhost:8787`,
    ["http://user@localhost:3000", CREDENTIALS],
    ...refusedAs(SCHEME)`
      ftp://localhost:3000 http://hooks.example.com http://printer.local http://10.0.0.1:3000
      http://[::ffff:7f00:1]:3000 http://visits.localhost:3000`,
    ...refusedAs(ADDRESS)`https://[::ffff:7f00:1] https://10.0.0.1 https://0.0.0.0`,
    ["https://visits.localhost", NAME],
    ["https://hooks.example.com:8443", PORT],
  ])("refuses %s", (url, reason) => {
    expect(urlFault(url, LOCAL)).toBe(reason);
  });

  it("refuses the service's default port", () => {
    const surroundings = { ownUrl: "http://localhost/api", allowsLoopback: true };
    expect(urlFault("http://127.0.0.1", surroundings)).toBe(OWN);
    expect(urlFault("http://127.0.0.1:80", surroundings)).toBe(OWN);
    expect(urlFault("https://127.0.0.1", surroundings)).toBeUndefined();
  });
});

describe("urlFault, for any text", () => {
  const part = (value: number) =>
    fc.constantFrom(String(value), `0x${value.toString(16)}`, `0${value.toString(8)}`);
  const byte = fc.nat({ max: 255 });
  const address = fc
    .tuple(byte, byte, byte, byte)
    .chain(([a, b, c, d]) =>
      fc.oneof(
        fc.tuple(part(a), part(b), part(c), part(d)),
        fc.tuple(part(a), part(b), part(c * 256 + d)),
        fc.tuple(part(a), part((b * 256 + c) * 256 + d)),
        fc.tuple(part(((a * 256 + b) * 256 + c) * 256 + d)),
      ),
    )
    .map((parts) => parts.join("."));

  it("refuses an IPv4 address, however it is written", () => {
    fc.assert(
      fc.property(address, fc.constantFrom("", "."), (host, dot) => {
        expect(urlFault(`https://${host}${dot}/visits`, DEPLOYED)).toBe(ADDRESS);
      }),
    );
  });

  it("refuses an IPv6 address", () => {
    fc.assert(
      fc.property(fc.ipV6(), (host) => {
        expect(urlFault(`https://[${host}]/visits`, DEPLOYED)).toBe(ADDRESS);
      }),
    );
  });

  it("accepts only https on port 443 of a name with a dot", () => {
    const text = fc.oneof(
      fc.webUrl(),
      fc.string().map((rest) => `https://${rest}`),
      fc.string(),
    );
    fc.assert(
      fc.property(text, (url) => {
        if (urlFault(url, DEPLOYED) !== undefined) return;
        const { protocol, hostname, port, username, password } = new URL(url);
        expect([protocol, port, username, password]).toEqual(["https:", "", "", ""]);
        expect(hostname).toMatch(/^[\w-]+(\.[\w-]+)+\.?$/);
        expect(hostname).not.toMatch(/^\d+(\.\d+)*$/);
      }),
      { numRuns: 1000 },
    );
  });
});
