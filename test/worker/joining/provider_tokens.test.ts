import type { JWTPayload } from "jose";
import { describe, expect, it } from "vitest";
import { expectRefusal } from "../support/expectations.ts";
import { AUDIENCE, aKey, type Key } from "../support/identity_provider.ts";
import { aClinicWithSignIn, expectExchanged, expectRefused, signIn } from "../support/sign_in.ts";

/** The ID token of a provider, the settings for its registration, and its keys. */
interface Shape {
  settings?: object;
  claims: (email: string) => JWTPayload;
  keys?: (key: Key["jwk"]) => Promise<object[]>;
}

const PROVIDERS: Record<string, Shape> = {
  "Microsoft Entra, by the user's sign-in name": {
    settings: { email_claim: "preferred_username" },
    claims: (email) => ({
      ...{
        ver: "2.0",
        tid: "9188040d-6c67-4c5b-b112-36a304b66dad",
        oid: "00000000-0000-0000-66f3-3332eca7ea81",
      },
      ...{
        sub: "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
        name: "Ada Admin",
        nonce: "123523",
        rh: "0.AX",
      },
      preferred_username: email,
    }),
    // Entra's keys name no algorithm.
    keys: async ({ alg: _, ...key }) => [
      { ...key, use: "sig", x5t: "x", cloud_instance_name: "microsoftonline.com" },
    ],
  },
  "Keycloak, with users that the clinic created": {
    settings: { require_verified_email: false },
    claims: (email) => ({
      ...{ typ: "ID", azp: AUDIENCE, acr: "1", sid: "s", aud: [AUDIENCE, "account"] },
      ...{ preferred_username: "ada", email, email_verified: false },
    }),
    keys: async (key) => [
      { ...(await aKey("ES256", "encryption")).jwk, use: "enc" },
      { ...key, use: "sig", x5c: ["MIIC"] },
    ],
  },
};

describe("POST /auth/token_exchange accepts a token as issued by", () => {
  it.each(Object.entries(PROVIDERS))("%s", async (_, { settings, claims, keys }) => {
    const { clinic, client, provider, email } = await aClinicWithSignIn({ alg: "RS256", ...settings });
    const published = await keys?.(provider.key.jwk);
    if (published) provider.answer = () => Response.json({ keys: published });
    const { organization_user } = await signIn(client, await provider.token(claims(email)));
    expect(organization_user.id).toBe(clinic.admin.id);
  });
});

describe("The email claim", () => {
  it("can be a list of exactly one string", async () => {
    const { client, provider, email } = await aClinicWithSignIn({ email_claim: "emails" });
    await expectExchanged(client, await provider.token({ emails: [email] }));
    for (const emails of [[], [email, email], [[email]], [null], { 0: email }])
      await expectRefused(client, await provider.token({ emails }));
  });

  it("depends on email_verified only if it is the claim email", async () => {
    const other = await aClinicWithSignIn({ email_claim: "preferred_username" });
    for (const email_verified of [false, "false", 0])
      await expectExchanged(
        other.client,
        await other.provider.token({ preferred_username: other.email, email_verified }),
      );
    const { client, provider, email } = await aClinicWithSignIn();
    for (const email_verified of [true, "true", null, undefined])
      await expectExchanged(client, await provider.token({ email, email_verified }));
    for (const email_verified of [false, "false", "TRUE", "yes", 1, [true]])
      await expectRefused(client, await provider.token({ email, email_verified }));
  });

  it("need not be verified if the issuer has require_verified_email set to false", async () => {
    const { client, provider, issuer, email } = await aClinicWithSignIn({ require_verified_email: false });
    expect(issuer.require_verified_email).toBe(false);
    for (const email_verified of [false, "false", 0, "yes"])
      await expectExchanged(client, await provider.token({ email, email_verified }));
    expect((await aClinicWithSignIn()).issuer.require_verified_email).toBe(true);
  });
});

describe("An issuer with several audiences", () => {
  it("is registered once for each, and each token uses its own registration", async () => {
    const { clinic, client, provider, email } = await aClinicWithSignIn();
    const second = { audience: "portal", email_claim: "upn" };
    await provider.register(clinic, second);
    await expectExchanged(client, await provider.token({ email }));
    await expectExchanged(client, await provider.token({ upn: email, aud: "portal" }));
    await expectExchanged(client, await provider.token({ upn: email, aud: ["other", "portal"] }));
    await expectRefused(client, await provider.token({ email, aud: "portal" }));
    await expectRefused(client, await provider.token({ email, upn: email, aud: "other" }));
    const again = await clinic.platform.post("/issuers", {
      issuer: { issuer: provider.issuer, jwks_url: provider.jwks_url, ...second },
    });
    expectRefusal(again, 422, /^issuer\.issuer: is already registered .* with this audience/);
  });
});

describe("A published key is used", () => {
  it.each([
    ["with operations other than verify", { key_ops: ["verify", "sign"] }],
    ["with members that are null", { use: null, key_ops: null, x5c: null, x5t: null, ext: null }],
    ["with a use and operations that agree", { use: "sig", key_ops: ["verify"] }],
  ])("%s", async (_, more) => {
    const { client, provider, email } = await aClinicWithSignIn();
    provider.answer = () => Response.json({ keys: [{ ...provider.key.jwk, ...more }] });
    await expectExchanged(client, await provider.token({ email }));
  });

  it.each([
    ["that is only for signing", { key_ops: ["sign"] }],
    ["that is only for encryption", { use: "enc" }],
  ])("except one %s", async (_, more) => {
    const { client, provider, email } = await aClinicWithSignIn();
    provider.answer = () => Response.json({ keys: [{ ...provider.key.jwk, ...more }] });
    await expectRefused(client, await provider.token({ email }));
  });
});

describe("POST /auth/token_exchange", () => {
  it("trims spaces, tabs and line breaks around the token", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const token = await provider.token({ email });
    for (const spaced of [`${token}\n`, ` \t${token}\r\n`, `\n\n${token}`])
      await expectExchanged(client, spaced);
  });

  it.each([
    ["with a byte order mark", (token: string) => `\ufeff${token}`],
    ["with a no-break space at its end", (token: string) => `${token}\u00a0`],
    ["with a line break in it", (token: string) => token.replace(".", "\n.")],
    ["with padding", (token: string) => `${token}==`],
    ["with padding in its header", (token: string) => token.replace(".", "=.")],
    ["in base64, not base64url", (token: string) => token.replaceAll("_", "/").replaceAll("-", "+")],
  ])("refuses a token %s", async (_, spell) => {
    const { client, provider, email } = await aClinicWithSignIn();
    // Until the signature has a character that differs between base64 and base64url.
    let token = "";
    while (!/[-_]/.test(token.split(".")[2] ?? "")) token = await provider.token({ email });
    await expectRefused(client, spell(token));
    await expectExchanged(client, token);
  });

  it("refuses 200,000 spaces inside a token at once", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const token = await provider.token({ email });
    await expectRefused(client, `${token}${" ".repeat(200_000)}${token}`);
  });
});
