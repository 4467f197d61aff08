import { exportJWK, type JWK } from "jose";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Answer } from "./support/api.ts";
import { aKey, anIdentityProvider, type IdentityProvider, type Key } from "./support/identity_provider.ts";
import {
  aClinicWithSignIn,
  exchange,
  expectExchanged,
  expectRefused,
  storedCodes,
} from "./support/sign_in.ts";
import { reachTimeouts, travelToSecond } from "./support/time.ts";

const RETRY_AFTER = /^[1-9]\d*$/;

/** The exchange fails because of the provider, says when to try again, and makes no code. */
async function expectUnavailable(client: Parameters<typeof exchange>[0], token: string) {
  const before = await storedCodes();
  const { status, body, headers } = await exchange(client, token);
  expect({ status, body }).toEqual({ status: 503, body: { error: "Identity provider unavailable" } });
  expect(headers.get("Retry-After")).toMatch(RETRY_AFTER);
  expect(await storedCodes()).toEqual(before);
}

/** Returns the reasons of the refusals that are logged from here on. */
function loggedReasons() {
  const spy = vi.spyOn(console, "log");
  onTestFinished(() => spy.mockRestore());
  return () =>
    spy.mock.calls
      .map(([line]) => JSON.parse(line))
      .filter(({ event }) => event === "refused")
      .map(({ reason }) => reason);
}

/** How often each response came. */
function tally(answers: Answer[]) {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const answer = [status, body.error].join(" ").trim();
    counts[answer] = (counts[answer] ?? 0) + 1;
  }
  return counts;
}

/** What the log says of some of the faults below. */
const REASONS: Record<string, string> = {
  "refuses the connection": "keys_unreachable",
  "answers 500 with the right keys": "keys_not_ok",
  "answers 404": "keys_not_ok",
  "redirects for good": "keys_not_ok",
  "answers the right keys and 128 KiB besides": "keys_too_large",
  "answers 201 keys": "keys_too_large",
  "answers nothing": "keys_malformed",
  "answers a page of HTML": "keys_malformed",
  "answers null": "keys_malformed",
  "answers a list of keys that are none": "keys_malformed",
};

const html = (page: string, init?: ResponseInit) =>
  new Response(page, { ...init, headers: { "Content-Type": "text/html" } });

/** What a broken endpoint, or something else at its address, may answer. The provider publishes the right keys elsewhere. */
const FAULTS: Record<string, (elsewhere: IdentityProvider) => Response | Promise<Response>> = {
  "refuses the connection": () => Promise.reject(new TypeError("Connection refused")),
  "breaks off in the middle": () => new Response('{"keys":[{"kty":"EC"', { status: 200 }),
  "answers nothing": () => new Response(""),
  "answers 500": () => new Response("Internal server error", { status: 500 }),
  "answers 500 with the right keys": (elsewhere) => Response.json(elsewhere.keySet(), { status: 500 }),
  "answers 404": () => Response.json({ error: "Not found" }, { status: 404 }),
  "answers 204": () => new Response(null, { status: 204 }),
  "answers 429": () => new Response(null, { status: 429, headers: { "Retry-After": "3600" } }),
  "answers a page of HTML": () => html("<!doctype html><title>Log in</title>"),
  "answers garbage": () => new Response(crypto.getRandomValues(new Uint8Array(1000))),
  "redirects to where the right keys are": (elsewhere) => Response.redirect(elsewhere.jwks_url),
  "redirects for good": (elsewhere) => Response.redirect(elsewhere.jwks_url, 308),
  "answers the right keys and 128 KiB besides": (elsewhere) =>
    Response.json({ ...elsewhere.keySet(), padding: "x".repeat(128 * 1024) }),
  "answers 201 keys": (elsewhere) => Response.json({ keys: Array(201).fill(elsewhere.key.jwk) }),
  "answers null": () => Response.json(null),
  "answers a text": () => Response.json("keys"),
  "answers the keys without their wrapper": (elsewhere) => Response.json(elsewhere.keySet().keys),
  "answers no keys member": (elsewhere) => Response.json({ jwks: elsewhere.keySet().keys }),
  "answers keys that are no list": (elsewhere) => Response.json({ keys: elsewhere.keySet().keys[0] }),
  "answers a list of keys that are none": () => Response.json({ keys: ["key", null, 1] }),
};

/** A provider with a token that is valid as soon as its keys are known, and the same keys published elsewhere. */
async function aFaultyProvider() {
  const scene = await aClinicWithSignIn();
  const elsewhere = await anIdentityProvider();
  elsewhere.key = scene.provider.key;
  return { ...scene, elsewhere, token: await scene.provider.token({ email: scene.email }) };
}

describe("An identity provider that", () => {
  it.each(Object.entries(FAULTS))(
    "%s makes the exchange fail until it has recovered, and again when its keys are too old, but not before",
    async (name, fault) => {
      travelToSecond(0);
      const { client, provider, elsewhere, token, email } = await aFaultyProvider();
      provider.answer = () => fault(elsewhere);
      const reasons = loggedReasons();
      for (let n = 1; n <= 2; n++) {
        await expectUnavailable(client, token);
        expect(provider.asked).toBe(n);
        expect(reasons()).toEqual(Array(n).fill(REASONS[name] ?? expect.stringMatching(/^keys_/)));
      }
      provider.answer = undefined;
      await expectExchanged(client, token);
      provider.answer = () => fault(elsewhere);
      travelToSecond(599);
      const later = await provider.token({ email });
      await expectExchanged(client, later);
      travelToSecond(600);
      await expectUnavailable(client, later);
      provider.answer = undefined;
      await expectExchanged(client, later);
      expect(elsewhere.asked).toBe(0);
    },
  );

  it("never answers makes the exchange fail after 5 s; the next one succeeds when it has recovered", async () => {
    const { client, provider, token } = await aFaultyProvider();
    provider.answer = () => new Promise(() => {});
    const limits = reachTimeouts();
    const reasons = loggedReasons();
    await expectUnavailable(client, token);
    expect(limits).toEqual([5000]);
    expect(reasons()).toEqual(["keys_timeout"]);
    provider.answer = undefined;
    await expectExchanged(client, token);
  });

  it("is down does not prevent users of other providers from signing in", async () => {
    const down = await aFaultyProvider();
    const well = await aFaultyProvider();
    down.provider.answer = () => Promise.reject(new TypeError("Connection refused"));
    await expectUnavailable(down.client, down.token);
    await expectExchanged(well.client, well.token);
  });

  it("is valid with 200 keys in 128 KiB, of which those that cannot be read are skipped", async () => {
    const { client, provider, elsewhere, token } = await aFaultyProvider();
    const keys = [null, "key", ["key"], ...Array(196).fill({ kty: 1 }), elsewhere.key.jwk];
    const body = JSON.stringify({ keys }).padEnd(128 * 1024);
    provider.answer = () => new Response(body);
    await expectExchanged(client, token);
  });

  it("is down is not asked about a token that is invalid with any keys", async () => {
    const { client, provider, email } = await aFaultyProvider();
    provider.answer = () => Promise.reject(new TypeError("Connection refused"));
    const [header, claims] = (await provider.token({ email })).split(".");
    const unsigned = btoa(JSON.stringify({ alg: "none" })).replaceAll("=", "");
    await expectRefused(client, await provider.token({ email, iss: "https://unknown.test" }));
    await expectRefused(client, "garbage");
    await expectRefused(client, `${header}.${claims}`);
    await expectRefused(client, `${unsigned}.${claims}.`);
    await expectRefused(client, await provider.token({ email, exp: Math.floor(Date.now() / 1000) - 1 }));
    await expectRefused(client, await provider.token({ email, aud: "another" }));
    expect(provider.asked).toBe(0);
    await expectUnavailable(client, await provider.token({ email }));
    expect(provider.asked).toBe(1);
  });
});

/** A key of RSA that is too short to be safe. */
async function aWeakKey(): Promise<Key> {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", publicExponent: new Uint8Array([1, 0, 1]) };
  const { publicKey, privateKey } = (await crypto.subtle.generateKey(
    { ...algorithm, modulusLength: 1024 },
    true,
    ["sign", "verify"],
  )) as CryptoKeyPair;
  const { alg, kid, ...strong } = await aKey("RS256");
  const jwk = { ...(await exportJWK(publicKey)), kid, alg };
  return { ...strong, alg, kid, publicKey, privateKey, jwk };
}

/** What a provider may publish by mistake in place of its key. */
const UNUSABLE: Record<string, (key: Key) => JWK | Promise<JWK>> = {
  "lacks a part": ({ jwk: { y: _, ...jwk } }) => jwk,
  "has a part that is no number": ({ jwk }) => ({ ...jwk, x: "???" }),
  "has a point that is not on its curve": ({ jwk }) => ({ ...jwk, x: jwk.y }),
  "is private": async ({ jwk, privateKey }) => ({ ...(await exportJWK(privateKey)), kid: jwk.kid }),
};

describe("A key that cannot be used, because it", () => {
  it.each(Object.entries(UNUSABLE))(
    "%s, makes its tokens invalid, and not those of the provider's other keys",
    async (_, breakKey) => {
      const { client, provider, email } = await aFaultyProvider();
      const well = await aKey();
      const broken = await breakKey(provider.key);
      provider.answer = () => Response.json({ keys: [broken, well.jwk] });
      const reasons = loggedReasons();
      await expectRefused(client, await provider.token({ email }));
      expect(reasons()).toEqual(["key_unusable"]);
      await expectExchanged(client, await provider.token({ email }, {}, well));
      expect(provider.asked).toBe(1);
    },
  );

  it("is too short, makes its tokens invalid", async () => {
    const { client, provider, email } = await aFaultyProvider();
    const weak = await aWeakKey();
    provider.answer = () => Response.json({ keys: [weak.jwk] });
    const [header, claims] = [{ alg: "RS256", kid: weak.kid }, provider.claims({ email })].map((part) =>
      btoa(JSON.stringify(part)).replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_"),
    );
    const text = new TextEncoder().encode(`${header}.${claims}`);
    const signature = new Uint8Array(await crypto.subtle.sign("RSASSA-PKCS1-v1_5", weak.privateKey, text));
    const encoded = btoa(String.fromCharCode(...signature)).replaceAll("=", "");
    const reasons = loggedReasons();
    const token = `${header}.${claims}.${encoded.replaceAll("+", "-").replaceAll("/", "_")}`;
    await expectRefused(client, token);
    expect(reasons()).toEqual(["key_unusable"]);
  });
});

describe("A token that fits several keys of its provider", () => {
  /** A provider that publishes these keys under no names, or all under one. */
  async function aProviderOf(keys: JWK[], kid?: string) {
    const scene = await aFaultyProvider();
    scene.provider.answer = () => Response.json({ keys: keys.map((jwk) => ({ ...jwk, kid })) });
    const token = (key: Key, claims: object = {}) =>
      scene.provider.token({ email: scene.email, ...claims }, { kid }, key);
    return { ...scene, token };
  }

  it.each([
    ["because it names none", undefined],
    ["because they have one name", "the key"],
  ])("%s is valid if one of them signed it", async (_, kid) => {
    const [first, second, third] = [await aKey(), await aKey(), await aKey()];
    const { client, provider, token } = await aProviderOf([first.jwk, second.jwk, third.jwk], kid);
    for (const key of [first, second, third]) await expectExchanged(client, await token(key));
    expect(provider.asked).toBe(1);
  });

  it.each(Object.entries(UNUSABLE))(
    "is valid if one of them signed it, and another %s",
    async (_, breakKey) => {
      const [broken, well] = [await aKey(), await aKey()];
      const { client, token } = await aProviderOf([await breakKey(broken), well.jwk]);
      await expectExchanged(client, await token(well));
      await expectRefused(client, await token(broken));
    },
  );

  it("is valid if one of them signed it, and another is too short", async () => {
    const well = await aKey("RS256");
    const { client, token } = await aProviderOf([(await aWeakKey()).jwk, well.jwk]);
    await expectExchanged(client, await token(well));
  });

  it("is tried against ten of them", async () => {
    const keys = await Promise.all(Array.from({ length: 11 }, () => aKey()));
    const [{ client, token }, reasons] = [await aProviderOf(keys.map(({ jwk }) => jwk)), loggedReasons()];
    await expectExchanged(client, await token(keys[9] as Key));
    await expectRefused(client, await token(keys[10] as Key));
    expect(reasons()).toEqual(["signature_invalid"]);
  });

  it("is invalid if none of them signed it", async () => {
    const { client, token } = await aProviderOf([(await aKey()).jwk, (await aKey()).jwk]);
    const reasons = loggedReasons();
    await expectRefused(client, await token(await aKey()));
    expect(reasons()).toEqual(["signature_invalid"]);
  });

  it("is invalid if its claims are, whichever of them signed it", async () => {
    const [first, second] = [await aKey(), await aKey()];
    const { client, token } = await aProviderOf([first.jwk, second.jwk]);
    const reasons = loggedReasons();
    for (const key of [first, second]) {
      await expectRefused(client, await token(key, { aud: "another" }));
      await expectRefused(client, await token(key, { exp: 1 }));
    }
    expect(reasons()).toEqual(["audience_wrong", "expired", "audience_wrong", "expired"]);
  });
});

describe("The keys of an identity provider", () => {
  /** A provider whose keys were fetched at the start of the story. */
  async function aKnownProvider() {
    travelToSecond(0);
    const scene = await aFaultyProvider();
    const { provider, client, email, elsewhere } = scene;
    const good = () => provider.token({ email });
    await expectExchanged(client, await good());
    expect(provider.asked).toBe(1);
    /** A token signed by a key that the provider does not publish. */
    const strange = () => provider.token({ email }, { kid: "strange" }, elsewhere.key);
    return { ...scene, good, strange };
  }

  it("are not fetched again within 10 minutes, and then once", async () => {
    const { client, provider, good } = await aKnownProvider();
    for (const [seconds, asked] of [
      [1, 1],
      [30, 1],
      [599.999, 1],
      [600, 2],
      [601, 2],
      [1199.999, 2],
      [1200, 3],
    ] as const) {
      travelToSecond(seconds);
      await expectExchanged(client, await good());
      expect({ seconds, asked: provider.asked }).toEqual({ seconds, asked });
    }
  });

  it("are fetched once for all organizations that share them", async () => {
    const { provider } = await aKnownProvider();
    const other = await aClinicWithSignIn();
    await provider.register(other.clinic);
    await expectExchanged(other.client, await provider.token({ email: other.email }));
    expect(provider.asked).toBe(1);
  });

  it("are fetched again for a key that is unknown, but not within 30 s of the last time", async () => {
    const { client, provider, strange, good } = await aKnownProvider();
    for (const [seconds, asked] of [
      [0, 1],
      [29.999, 1],
      [30, 2],
      [30.001, 2],
      [59.999, 2],
      [60, 3],
    ] as const) {
      travelToSecond(seconds);
      for (let n = 0; n < 3; n++) await expectRefused(client, await strange());
      expect({ seconds, asked: provider.asked }).toEqual({ seconds, asked });
    }
    await expectExchanged(client, await good());
    expect(provider.asked).toBe(3);
  });

  it("are not fetched more often for an unknown key if that fails, and the known keys stay valid", async () => {
    const { client, provider, strange, good } = await aKnownProvider();
    provider.answer = () => new Response(null, { status: 500 });
    for (const [seconds, asked] of [
      [29.999, 1],
      [30, 2],
      [59.999, 2],
      [60, 3],
      [89.999, 3],
    ] as const) {
      travelToSecond(seconds);
      const before = await storedCodes();
      for (let n = 0; n < 3; n++)
        expect([401, 503]).toContain((await exchange(client, await strange())).status);
      expect(await storedCodes()).toEqual(before);
      await expectExchanged(client, await good());
      expect({ seconds, asked: provider.asked }).toEqual({ seconds, asked });
    }
    provider.answer = undefined;
    travelToSecond(90);
    await expectRefused(client, await strange());
    expect(provider.asked).toBe(4);
  });

  it("are fetched once for twenty simultaneous tokens with unknown keys, and each token is invalid", async () => {
    const { client, provider, strange } = await aKnownProvider();
    travelToSecond(60);
    const tokens = await Promise.all(Array.from({ length: 20 }, strange));
    const answers = await Promise.all(tokens.map((token) => exchange(client, token)));
    expect(tally(answers)).toEqual({ "401 Invalid token": 20 });
    expect(provider.asked).toBe(2);
  });

  it("are up to date after a rotation for all of twenty people who sign in at the same time", async () => {
    const { client, provider, good } = await aKnownProvider();
    await provider.rotateKey();
    travelToSecond(30);
    const token = await good();
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(client, token)));
    expect(tally(answers)).toEqual({ "200": 20 });
    await expectExchanged(client, token);
    expect(provider.asked).toBe(2);
  });

  it("are not up to date within 30 s of a fetch if a rotation follows it, and are right after that", async () => {
    const { client, provider, good } = await aKnownProvider();
    await provider.rotateKey();
    travelToSecond(29.999);
    await expectRefused(client, await good());
    expect(provider.asked).toBe(1);
    travelToSecond(30);
    await expectExchanged(client, await good());
  });

  it("are valid side by side during a rotation", async () => {
    const { client, provider, email, good } = await aKnownProvider();
    const old = provider.key;
    await provider.rotateKey();
    provider.answer = () => Response.json({ keys: [old.jwk, provider.key.jwk] });
    travelToSecond(30);
    await expectExchanged(client, await good());
    await expectExchanged(client, await provider.token({ email }, {}, old));
    expect(provider.asked).toBe(2);
  });

  it("are fetched from the new address when the issuer is registered again", async () => {
    const { clinic, client, provider, elsewhere, good } = await aKnownProvider();
    await elsewhere.register(clinic, { issuer: `${provider.issuer}/new` });
    const moved = await provider.token({ email: clinic.admin.email, iss: `${provider.issuer}/new` });
    await expectExchanged(client, moved);
    expect([provider.asked, elsewhere.asked]).toEqual([1, 1]);
    await expectExchanged(client, await good());
  });
});
