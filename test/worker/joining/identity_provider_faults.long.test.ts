import { base64url, exportJWK, type JWK } from "jose";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { aKey, anIdentityProvider, type IdentityProvider, type Key } from "../support/identity_provider.ts";
import {
  aClinicWithSignIn,
  exchange,
  expectExchanged,
  expectRefused,
  storedCodes,
} from "../support/sign_in.ts";
import { reachTimeouts, travelToSecond } from "../support/time.ts";

/** Expects the exchange to fail with 503 and Retry-After, and to make no code. */
async function expectUnavailable(client: Parameters<typeof exchange>[0], token: string) {
  const before = await storedCodes();
  const { status, body, headers } = await exchange(client, token);
  expect({ status, body }).toEqual({ status: 503, body: { error: "Identity provider unavailable" } });
  expect(headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
  expect(await storedCodes()).toEqual(before);
}

/** Returns a function that reads the reasons of the refusals logged from now on. */
function loggedReasons() {
  const spy = vi.spyOn(console, "log");
  onTestFinished(() => spy.mockRestore());
  return () =>
    spy.mock.calls
      .map(([line]) => JSON.parse(line))
      .filter(({ event }) => event === "refused")
      .map(({ reason }) => reason);
}

/**
 * Answers of a broken endpoint, or of something else at its address, with the logged reasons. The provider publishes the right
 * keys elsewhere.
 */
const FAULTS: [string, string, (elsewhere: IdentityProvider) => Response | Promise<Response>][] = [
  ["refuses the connection", "keys_unreachable", () => Promise.reject(new TypeError("Connection refused"))],
  ["answers nothing", "keys_malformed", () => new Response("")],
  [
    "answers 500 with the right keys",
    "keys_not_ok",
    (right) => Response.json(right.keySet(), { status: 500 }),
  ],
  ["answers a page of HTML", "keys_malformed", () => new Response("<!doctype html><title>Log in</title>")],
  ["redirects to where the right keys are", "keys_not_ok", (right) => Response.redirect(right.jwks_url)],
  [
    "answers the right keys and 128 KiB more",
    "keys_too_large",
    (right) => Response.json({ ...right.keySet(), padding: "x".repeat(128 * 1024) }),
  ],
  ["answers 201 keys", "keys_too_large", (right) => Response.json({ keys: Array(201).fill(right.key.jwk) })],
  ["answers null", "keys_malformed", () => Response.json(null)],
  ["answers no keys member", "keys_malformed", (right) => Response.json({ jwks: right.keySet().keys })],
  ["answers keys that are not objects", "keys_malformed", () => Response.json({ keys: ["key", null, 1] })],
];

/** A provider, a token that is valid once the provider's keys are known, and the same keys published elsewhere. */
async function aFaultyProvider() {
  const scene = await aClinicWithSignIn();
  const elsewhere = await anIdentityProvider();
  elsewhere.key = scene.provider.key;
  return { ...scene, elsewhere, token: await scene.provider.token({ email: scene.email }) };
}

describe("POST /auth/token_exchange with an identity provider that", () => {
  it.each(FAULTS)(
    "%s fails until the provider recovers, and again once the known keys are too old, but not before",
    async (_, reason, fault) => {
      travelToSecond(0);
      const { client, provider, elsewhere, token, email } = await aFaultyProvider();
      provider.answer = () => fault(elsewhere);
      const reasons = loggedReasons();
      for (let n = 1; n <= 2; n++) {
        await expectUnavailable(client, token);
        expect(provider.asked).toBe(n);
        expect(reasons()).toEqual(Array(n).fill(reason));
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

  it("never answers fails after 5 s, and succeeds once the provider has recovered", async () => {
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

  it("answers 200 keys in 128 KiB succeeds, and skips the keys that cannot be read", async () => {
    const { client, provider, elsewhere, token } = await aFaultyProvider();
    const keys = [null, "key", ["key"], ...Array(196).fill({ kty: 1 }), elsewhere.key.jwk];
    const body = JSON.stringify({ keys }).padEnd(128 * 1024);
    provider.answer = () => new Response(body);
    await expectExchanged(client, token);
  });

  it("is down does not ask the provider about a token that is invalid with any keys", async () => {
    const { client, provider, email } = await aFaultyProvider();
    provider.answer = () => Promise.reject(new TypeError("Connection refused"));
    const [header, claims] = (await provider.token({ email })).split(".");
    await expectRefused(client, await provider.token({ email, iss: "https://unknown.test" }));
    await expectRefused(client, "garbage");
    await expectRefused(client, `${header}.${claims}`);
    await expectRefused(client, await provider.token({ email, exp: Math.floor(Date.now() / 1000) - 1 }));
    await expectRefused(client, await provider.token({ email, aud: "another" }));
    expect(provider.asked).toBe(0);
    await expectUnavailable(client, await provider.token({ email }));
    expect(provider.asked).toBe(1);
  });
});

/** An RSA key that is too short to be safe. */
async function aWeakKey(): Promise<Key> {
  const publicExponent = new Uint8Array([1, 0, 1]);
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", publicExponent, modulusLength: 1024 };
  const pair = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
  const [alg, kid] = ["RS256", "weak"];
  return { ...pair, alg, kid, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg } };
}

/** Broken versions of a key that a provider may publish by mistake. */
const UNUSABLE: Record<string, (key: Key) => JWK | Promise<JWK>> = {
  "lacks a part": ({ jwk: { y: _, ...jwk } }) => jwk,
  "has a part that is not a number": ({ jwk }) => ({ ...jwk, x: "???" }),
  "has a point that is not on its curve": ({ jwk }) => ({ ...jwk, x: jwk.y }),
  "is private": async ({ jwk, privateKey }) => ({ ...(await exportJWK(privateKey)), kid: jwk.kid }),
};

describe("A published key that", () => {
  it.each(Object.entries(UNUSABLE))(
    "%s makes its tokens invalid, but not those of the provider's other keys",
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

  it("is too short makes its tokens invalid", async () => {
    const { client, provider, email } = await aFaultyProvider();
    const weak = await aWeakKey();
    provider.answer = () => Response.json({ keys: [weak.jwk] });
    const parts = [{ alg: "RS256", kid: weak.kid }, provider.claims({ email })];
    const text = parts.map((part) => base64url.encode(JSON.stringify(part))).join(".");
    const bytes = new TextEncoder().encode(text);
    const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", weak.privateKey, bytes);
    const reasons = loggedReasons();
    await expectRefused(client, `${text}.${base64url.encode(new Uint8Array(signature))}`);
    expect(reasons()).toEqual(["key_unusable"]);
  });
});

describe("A token that matches several keys of its provider", () => {
  /** A provider that publishes these keys without a kid, or all with the same one. */
  async function aProviderOf(keys: JWK[], kid?: string) {
    const scene = await aFaultyProvider();
    scene.provider.answer = () => Response.json({ keys: keys.map((jwk) => ({ ...jwk, kid })) });
    const token = (key: Key, claims: object = {}) =>
      scene.provider.token({ email: scene.email, ...claims }, { kid }, key);
    return { ...scene, token };
  }

  it.each([undefined, "the key"])("with the kid %s is valid only if one of them signed it", async (kid) => {
    const [first, second, third] = [await aKey(), await aKey(), await aKey()];
    const { client, provider, token } = await aProviderOf([first.jwk, second.jwk], kid);
    for (const key of [first, second]) await expectExchanged(client, await token(key));
    expect(provider.asked).toBe(1);
    const reasons = loggedReasons();
    await expectRefused(client, await token(third));
    expect(reasons()).toEqual(["signature_invalid"]);
  });

  it("is valid if one of them signed it, and the others are unusable", async () => {
    const [broken, well] = [await aKey(), await aKey()];
    const unusable = await Promise.all(Object.values(UNUSABLE).map((breakKey) => breakKey(broken)));
    const { client, token } = await aProviderOf([...unusable, (await aWeakKey()).jwk, well.jwk]);
    await expectExchanged(client, await token(well));
    await expectRefused(client, await token(broken));
  });

  it("is tried against at most ten of them", async () => {
    const keys = await Promise.all(Array.from({ length: 11 }, () => aKey()));
    const [{ client, token }, reasons] = [await aProviderOf(keys.map(({ jwk }) => jwk)), loggedReasons()];
    await expectExchanged(client, await token(keys[9] as Key));
    await expectRefused(client, await token(keys[10] as Key));
    expect(reasons()).toEqual(["signature_invalid"]);
  });
});

describe("The keys of an identity provider", () => {
  /** A provider whose keys were fetched at second 0. */
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

  it("are fetched again after 10 minutes, once for all organizations that share them", async () => {
    const { client, provider, good } = await aKnownProvider();
    const other = await aClinicWithSignIn();
    await provider.register(other.clinic);
    for (const [seconds, asked] of [
      [599.999, 1],
      [600, 2],
      [1199.999, 2],
      [1200, 3],
    ] as const) {
      travelToSecond(seconds);
      await expectExchanged(client, await good());
      await expectExchanged(other.client, await provider.token({ email: other.email }));
      expect({ seconds, asked: provider.asked }).toEqual({ seconds, asked });
    }
  });

  it("are fetched again for an unknown key, but not within 30 s of the last fetch, even if that failed", async () => {
    const { client, provider, strange, good } = await aKnownProvider();
    for (const [seconds, asked, isDown] of [
      [0, 1, false],
      [29.999, 1, false],
      [30, 2, false],
      [59.999, 2, true],
      [60, 3, true],
      [89.999, 3, true],
      [90, 4, false],
    ] as const) {
      travelToSecond(seconds);
      provider.answer = isDown ? () => new Response(null, { status: 500 }) : undefined;
      const before = await storedCodes();
      for (let n = 0; n < 3; n++)
        expect(isDown ? [401, 503] : [401]).toContain((await exchange(client, await strange())).status);
      expect(await storedCodes()).toEqual(before);
      await expectExchanged(client, await good());
      expect({ seconds, asked: provider.asked }).toEqual({ seconds, asked });
    }
  });

  it("are fetched once after a rotation for twenty people who sign in at the same time, and the old key is then unknown", async () => {
    const { client, provider, good } = await aKnownProvider();
    const old = await good();
    await provider.rotateKey();
    travelToSecond(30);
    await expectExchanged(client, old);
    const token = await good();
    expect(statusesOf(await atOnce(20, () => exchange(client, token)))).toEqual({ 200: 20 });
    await expectExchanged(client, token);
    expect(provider.asked).toBe(2);
    await expectRefused(client, old);
  });
});
