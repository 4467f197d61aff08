import { base64url, CompactEncrypt, exportSPKI } from "jose";
import { describe, expect, it } from "vitest";
import { expectGone } from "../support/expectations.ts";
import { aKey, anIdentityProvider } from "../support/identity_provider.ts";
import { anOrganization } from "../support/organization.ts";
import { aClinicWithSignIn, anEmail, expectExchanged, expectRefused } from "../support/sign_in.ts";
import { travelToSecond } from "../support/time.ts";

const encode = (text: string) => new TextEncoder().encode(text);

const encodePart = (part: unknown) =>
  base64url.encode(typeof part === "string" ? part : JSON.stringify(part));

/** Signs anything, because jose refuses to sign nonsense. */
async function signed(header: unknown, content: unknown, key: CryptoKey, hash = "SHA-256") {
  const text = `${encodePart(header)}.${encodePart(content)}`;
  const signature = await crypto.subtle.sign({ name: key.algorithm.name, hash }, key, encode(text));
  return `${text}.${base64url.encode(new Uint8Array(signature))}`;
}

/** Scenes by algorithm. The attacks can share an organization, because each test shows that its attack leaves nothing behind. */
const attacked = new Map<string, Awaited<ReturnType<typeof aClinicWithSignIn>>>();

/** Everything that an attacker may have: a user's valid token, its parts, and all public data. */
async function aScene(alg = "ES256") {
  const known = attacked.get(alg) ?? (await aClinicWithSignIn({ alg }));
  attacked.set(alg, known);
  const { client, provider, email } = known;
  const claims = provider.claims({ email, sub: "42", nbf: Math.floor(Date.now() / 1000) });
  const header = { alg: provider.key.alg, kid: provider.key.kid };
  const { publicKey, privateKey, jwk } = provider.key;
  /** Signs a token like the valid one with the provider's key, with these changes to its claims and header. */
  const issue = (changedClaims: object = {}, changedHeader: object = {}) =>
    signed({ ...header, ...changedHeader }, { ...claims, ...changedClaims }, privateKey);
  return { client, provider, email, claims, header, publicKey, jwk, good: await issue(), issue };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

type Attack = (scene: Scene) => string | Promise<string>;

function withParts(token: string, changed: { header?: object; claims?: object; signature?: string }) {
  const [header, claims, signature] = token.split(".");
  return [
    changed.header ? encodePart(changed.header) : header,
    changed.claims ? encodePart(changed.claims) : claims,
    changed.signature ?? signature,
  ].join(".");
}

const signatureOf = (token: string) => base64url.decode(token.split(".")[2] ?? "");

/** The claims of the valid token, authenticated with a public secret. */
async function withSecret({ claims, header }: Scene, secret: Uint8Array) {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  return signed({ ...header, alg: "HS256" }, claims, key);
}

/** The claims of the valid token, signed with the attacker's own key, which `bring` can put into the header. */
async function withOwnKey({ claims, header, jwk }: Scene, bring: (jwk: object) => object) {
  const own = await aKey(header.alg);
  return signed({ ...header, ...bring({ ...own.jwk, kid: jwk.kid }) }, claims, own.privateKey);
}

const UNSIGNED: Record<string, Attack> = {
  "says alg none": ({ claims }) => withParts("..", { header: { alg: "none" }, claims }),
  "says alg none in another spelling": ({ claims }) => withParts("..", { header: { alg: "nOnE" }, claims }),
  "names no algorithm": ({ issue }) => issue({}, { alg: undefined }),
  "names an algorithm that does not exist": ({ issue }) => issue({}, { alg: "constructor" }),
};

const SIGNED_WITH_WHAT_IS_PUBLIC: Record<string, Attack> = {
  "the PEM of the public key": async (scene) => withSecret(scene, encode(await exportSPKI(scene.publicKey))),
  "the JWK of the public key": (scene) => withSecret(scene, encode(JSON.stringify(scene.jwk))),
  "the modulus of the public key": (scene) => withSecret(scene, base64url.decode(scene.jwk.n ?? "")),
};

const BADLY_SIGNED: Record<string, Attack> = {
  "with an empty signature": ({ good }) => withParts(good, { signature: "" }),
  "with a truncated signature": ({ good }) =>
    withParts(good, { signature: base64url.encode(signatureOf(good).subarray(0, -1)) }),
  "with one bit of the signature flipped": ({ good }) => {
    const signature = signatureOf(good);
    signature[10] = (signature[10] ?? 0) ^ 1;
    return withParts(good, { signature: base64url.encode(signature) });
  },
  "with a signature of zeros only": ({ good }) =>
    withParts(good, { signature: base64url.encode(new Uint8Array(signatureOf(good).length)) }),
  "with the signature of another valid token": async ({ good, issue }) =>
    withParts(good, { signature: (await issue({ sub: "43" })).split(".")[2] }),
  "before its claims were changed": ({ good, claims }) =>
    withParts(good, { claims: { ...claims, sub: "43" } }),
  "before its header was changed": ({ good, header }) =>
    withParts(good, { header: { ...header, typ: "JWT" } }),
  "with a signature that is not base64url": ({ good }) => withParts(good, { signature: "{}!" }),
};

const SIGNED_BY_AN_UNKNOWN_KEY: Record<string, Attack> = {
  "with the kid of a known one": (scene) => withOwnKey(scene, () => ({})),
  "with its own kid": async (scene) => scene.provider.token({ email: scene.email }, {}, await aKey()),
  "that the header holds": (scene) => withOwnKey(scene, (jwk) => ({ jwk })),
  "that the header points to with an x5u": (scene) =>
    withOwnKey(scene, () => ({ x5u: "https://attacker.test/certificate" })),
  "that another provider has": async (scene) => {
    const other = await anIdentityProvider();
    return signed(scene.header, scene.claims, other.key.privateKey);
  },
};

const ILL_FORMED: Record<string, Attack> = {
  "is empty": () => "",
  "has only its first part": ({ good }) => good.split(".")[0] ?? "",
  "lacks its signature and the dot before it": ({ good }) => good.split(".").slice(0, 2).join("."),
  "has a fourth part": ({ good }) => `${good}.`,
  "is 100 KB of one letter": () => "a".repeat(100 * 1024),
  "is 100 KB of random bytes, in three parts": () =>
    Array.from({ length: 3 }, () => base64url.encode(crypto.getRandomValues(new Uint8Array(25_000)))).join(
      ".",
    ),
  "is 100 KB of brackets, in three parts": ({ good }) =>
    good.replace(/\.[^.]*\./, `.${base64url.encode("[".repeat(75_000))}.`),
  "has a header that is not JSON": ({ claims, provider }) =>
    signed("header", claims, provider.key.privateKey),
  "is in the flattened JSON form": ({ good }) => {
    const [header, payload, signature] = good.split(".");
    return JSON.stringify({ protected: header, payload, signature });
  },
  "has a byte order mark": ({ good }) => `\ufeff${good}`,
  "has a no-break space at its end": ({ good }) => `${good}\u00a0`,
  "has a line break in it": ({ good }) => good.replace(".", "\n."),
  "has padding": ({ good }) => `${good}==`,
  "has padding in its header": ({ good }) => good.replace(".", "=."),
  "is in base64, not base64url": async ({ issue }) => {
    // Until the signature has a character that differs.
    let token = "";
    while (!/[-_]/.test(token.split(".")[2] ?? "")) token = await issue();
    return token.replaceAll("_", "/").replaceAll("-", "+");
  },
  "is encrypted, in five parts": ({ claims, header }) =>
    new CompactEncrypt(encode(JSON.stringify(claims)))
      .setProtectedHeader({ ...header, alg: "dir", enc: "A256GCM" })
      .encrypt(crypto.getRandomValues(new Uint8Array(32))),
};

/** Tokens signed by the provider itself, but with wrong claims. */
const WRONG_CLAIMS: Record<string, Attack> = {
  "no issuer": ({ issue }) => issue({ iss: undefined }),
  "null as its issuer": ({ issue }) => issue({ iss: null }),
  "a list of issuers": ({ issue, claims }) => issue({ iss: [claims.iss] }),
  "its issuer in upper case": ({ issue, claims }) => issue({ iss: claims.iss?.toUpperCase() }),
  "half a surrogate pair as its issuer": ({ issue }) => issue({ iss: "\ud800" }),
  "another audience": ({ issue }) => issue({ aud: "another" }),
  "other audiences": ({ issue }) => issue({ aud: ["another", "third"] }),
  "no audience": ({ issue }) => issue({ aud: undefined }),
  "an empty list of audiences": ({ issue }) => issue({ aud: [] }),
  "its audience and more in one word": ({ issue, claims }) => issue({ aud: `${claims.aud}-and-more` }),
  "no exp": ({ issue }) => issue({ exp: undefined }),
  "its exp as text": ({ issue, claims }) => issue({ exp: String(claims.exp) }),
  "its nbf as text": ({ issue, claims }) => issue({ nbf: String(claims.nbf) }),
  "its iat as text": ({ issue, claims }) => issue({ iat: String(claims.iat) }),
  "no email": ({ issue }) => issue({ email: undefined }),
  "a number as its email": ({ issue }) => issue({ email: 42 }),
  "a list of two emails": ({ issue, email }) => issue({ email: [email, email] }),
  "an empty email": ({ issue }) => issue({ email: "" }),
  "its email with a name before it": ({ issue, email }) => issue({ email: `Ada <${email}>` }),
  "two emails": ({ issue, email }) => issue({ email: `${email},${anEmail()}` }),
  "a pattern as its email": ({ issue }) => issue({ email: "%@example.com" }),
  "an unknown email": ({ issue }) => issue({ email: anEmail() }),
};

const WRONG_HEADERS: Record<string, Attack> = {
  "that an unknown parameter is critical": ({ issue }) =>
    issue({}, { crit: ["unheard-of"], "unheard-of": 1 }),
  "that its content is not encoded": ({ issue }) => issue({}, { crit: ["b64"], b64: false }),
  "another algorithm than its key has": ({ header, claims, provider }) =>
    signed({ ...header, alg: "ES384" }, claims, provider.key.privateKey, "SHA-384"),
};

/** Tokens with a valid signature whose content is not a set of claims. */
const NO_CLAIMS: Record<string, Attack> = {
  "a list": ({ header, claims, provider }) => signed(header, [claims], provider.key.privateKey),
  null: ({ header, provider }) => signed(header, null, provider.key.privateKey),
};

/** Exchanges the valid token before and after, to prove that only the attack is wrong, and that it has no lasting effect. */
async function attack(forge: Attack, alg?: string) {
  const scene = await aScene(alg);
  const forged = await forge(scene);
  expect(forged).not.toBe(scene.good);
  await expectExchanged(scene.client, scene.good);
  await expectRefused(scene.client, forged);
  await expectExchanged(scene.client, scene.good);
}

const ATTACKS: [beginning: string, Record<string, Attack>, alg?: string][] = [
  ["that", UNSIGNED],
  ["that is authenticated with", SIGNED_WITH_WHAT_IS_PUBLIC, "RS256"],
  ["that was signed", BADLY_SIGNED],
  ["that was signed by a key", SIGNED_BY_AN_UNKNOWN_KEY],
  ["that", ILL_FORMED],
  ["that has", WRONG_CLAIMS],
  ["whose header says", WRONG_HEADERS],
  ["whose content is", NO_CLAIMS],
];

describe("POST /auth/token_exchange refuses a token", () => {
  it.each(
    ATTACKS.flatMap(([beginning, attacks, alg]) =>
      Object.entries(attacks).map(([name, forge]) => [`${beginning} ${name}`, forge, alg] as const),
    ),
  )("%s", async (_, forge, alg) => {
    await attack(forge, alg);
  });

  it("that was signed by a key that its header points to, and does not fetch that key", async () => {
    const attacker = await anIdentityProvider();
    const pointing = { jku: attacker.jwks_url, kid: attacker.key.kid };
    await attack(({ claims }) =>
      signed({ alg: attacker.key.alg, ...pointing }, claims, attacker.key.privateKey),
    );
    expect(attacker.asked).toBe(0);
  });

  it("whose email has a Kelvin sign, which becomes a k in lower case and so makes another person's email", async () => {
    const { clinic, client, provider } = await aClinicWithSignIn();
    const email = `kim.${anEmail()}`;
    await clinic.addProvider("Kim Provider", { email });
    await expectExchanged(client, await provider.token({ email: email.replace("k", "K") }));
    await expectRefused(client, await provider.token({ email: email.replace("k", "\u212a") }));
  });
});

it("A token that is valid for one organization is invalid for another that registered other keys for the same issuer", async () => {
  const [here, there] = [await aClinicWithSignIn(), await anOrganization()];
  const email = anEmail();
  for (const clinic of [here.clinic, there]) await clinic.addProvider("Paula Provider", { email });
  const double = await anIdentityProvider();
  await double.register(there, { issuer: here.provider.issuer });
  const genuine = await here.provider.token({ email });
  const doubles = await double.token({ email, iss: here.provider.issuer });
  await expectExchanged(here.client, genuine);
  await expectExchanged(there.client, doubles);
  await expectRefused(here.client, doubles);
  await expectRefused(there.client, genuine);
});

it("A token is valid for an organization only with its audience, until its issuer is deleted", async () => {
  const { clinic, client, provider, issuer, email } = await aClinicWithSignIn();
  const other = await anOrganization();
  await provider.register(other, { audience: "theirs" });
  await other.addProvider("Ada Elsewhere", { email });
  const [token, theirs] = [await provider.token({ email }), await provider.token({ email, aud: "theirs" })];
  await expectExchanged(client, token);
  await expectRefused(client, theirs);
  await expectRefused(other.client, token);
  expectGone(await clinic.platform.delete(`/issuers/${issuer.id}`));
  await expectRefused(client, token);
  await expectExchanged(other.client, theirs);
});

describe("The exp, nbf and iat of a token", () => {
  const START = Date.parse("2026-01-31T09:30:00Z") / 1000;

  it.each([
    ["until just before exp", { exp: START + 300 }, [0, 299.999], [300, 359]],
    ["a minute before nbf, if clocks differ", { nbf: START + 300 }, [240, 299], [0, 239.999]],
    ["a minute before iat, if it is later than nbf", { nbf: START + 10, iat: START + 300 }, [240], [239.999]],
  ])("make it valid %s", async (_, times, valid, invalid) => {
    travelToSecond(0);
    const { client, provider, email } = await aClinicWithSignIn();
    const token = await provider.token({ email, exp: START + 900, ...times });
    for (const seconds of valid) {
      travelToSecond(seconds);
      await expectExchanged(client, token);
    }
    for (const seconds of invalid) {
      travelToSecond(seconds);
      await expectRefused(client, token);
    }
  });
});
