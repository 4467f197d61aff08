import { describe, expect, it } from "vitest";
import { expectGone, expectRefusal } from "../support/expectations.ts";
import { aKey } from "../support/identity_provider.ts";
import { anOrganization } from "../support/organization.ts";
import { aClinicWithSignIn, exchange, expectExchanged, expectRefused, signIn } from "../support/sign_in.ts";
import { travelTo } from "../support/time.ts";

const ALGORITHMS = [
  ...["RS256", "RS384", "RS512"],
  ...["PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512"],
  ...["EdDSA", "Ed25519"],
];

describe("POST /auth/token_exchange with a valid token", () => {
  it.each(ALGORITHMS)("accepts %s, and returns a code for the user of the token", async (alg) => {
    const { clinic, client, provider, email } = await aClinicWithSignIn({ alg });
    const signedIn = await signIn(client, await provider.token({ email }));
    expect(signedIn.organization_user.id).toBe(clinic.admin.id);
  });

  it("finds the user by an email in another case and with spaces around it, for any client", async () => {
    const { clinic, provider, email } = await aClinicWithSignIn();
    const client = await clinic.addClient((await clinic.addProvider()).id);
    for (const spelt of [email.replace("user", "uSeR"), ` ${email.toUpperCase()}\t\n`]) {
      const { organization_user } = await signIn(client, await provider.token({ email: spelt }));
      expect(organization_user.id).toBe(clinic.admin.id);
    }
  });

  it("uses the right one of the provider's keys, whatever else it publishes", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const [sameKind, forEncryption, anotherKind] = [await aKey(), await aKey(), await aKey("RS256")];
    provider.answer = () =>
      Response.json({
        keys: [
          { kty: "unheard-of", kid: "future" },
          { kty: "oct", kid: provider.key.kid, k: "c2VjcmV0" },
          { ...forEncryption.jwk, use: "enc" },
          sameKind.jwk,
          anotherKind.jwk,
          provider.key.jwk,
        ],
      });
    for (const key of [provider.key, sameKind, anotherKind])
      await expectExchanged(client, await provider.token({ email }, {}, key));
    await expectRefused(client, await provider.token({ email }, {}, forEncryption));
  });

  it("trims spaces, tabs and line breaks around the token, however long it is", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const token = await provider.token({ email });
    for (const spaced of [`${token}\n`, ` \t${token}\r\n`, `\n\n${token}`])
      await expectExchanged(client, spaced);
    await expectRefused(client, `${token}${" ".repeat(200_000)}${token}`);
    // People in many groups have long tokens.
    const groups = Array.from({ length: 1500 }, (_, n) => `group-${n}-of-the-clinic`);
    const long = await provider.token({ email, groups });
    expect(long.length).toBeGreaterThan(40_000);
    await expectExchanged(client, long);
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
});

describe("The email claim", () => {
  it("can be a list of exactly one string", async () => {
    const { client, provider, email } = await aClinicWithSignIn({ email_claim: "emails" });
    await expectExchanged(client, await provider.token({ emails: [email] }));
    for (const emails of [[], [email, email], [[email]], [null], { 0: email }])
      await expectRefused(client, await provider.token({ emails }));
  });

  it("must be verified if it is the claim email, unless the issuer has require_verified_email set to false", async () => {
    const { client, provider, issuer, email } = await aClinicWithSignIn();
    expect(issuer.require_verified_email).toBe(true);
    const lenient = await aClinicWithSignIn({ require_verified_email: false });
    const named = await aClinicWithSignIn({ email_claim: "preferred_username" });
    for (const email_verified of [true, "true", null, undefined])
      await expectExchanged(client, await provider.token({ email, email_verified }));
    for (const email_verified of [false, "false", "TRUE", "yes", 0, 1, [true]]) {
      await expectRefused(client, await provider.token({ email, email_verified }));
      for (const other of [lenient, named]) {
        const claims = { email: other.email, preferred_username: other.email, email_verified };
        await expectExchanged(other.client, await other.provider.token(claims));
      }
    }
  });
});

it("An issuer with several audiences is registered once for each, and each token uses its own registration", async () => {
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

it.each<[boolean, string, object]>([
  [true, "with operations other than verify", { key_ops: ["verify", "sign"] }],
  [true, "with members that are null", { use: null, key_ops: null, x5c: null, x5t: null, ext: null }],
  [true, "without an algorithm, as Microsoft Entra publishes it", { alg: undefined }],
  [true, "with a use and operations that agree", { use: "sig", key_ops: ["verify"] }],
  [false, "that is only for signing", { key_ops: ["sign"] }],
  [false, "that is only for encryption", { use: "enc" }],
])("Whether a published key is used: %s for one %s", async (isUsed, _, more) => {
  const { client, provider, email } = await aClinicWithSignIn();
  provider.answer = () => Response.json({ keys: [{ ...provider.key.jwk, ...more }] });
  const token = await provider.token({ email });
  await (isUsed ? expectExchanged(client, token) : expectRefused(client, token));
});

describe("POST /auth/token_exchange with the token of an invitee", () => {
  async function anInvitee() {
    const scene = await aClinicWithSignIn();
    const invited = await scene.clinic.addInvite();
    const token = () => scene.provider.token({ email: invited.email });
    return { ...scene, invited, token };
  }

  const PLEASE = "Please accept your invite";

  it("asks to accept an expired invite, until it is deleted", async () => {
    const { client, invited, token } = await anInvitee();
    const expiry = Date.parse(invited.expires_at);
    for (const time of [expiry - 1, expiry, expiry + 365 * 86_400_000]) {
      travelTo(new Date(time).toISOString());
      await expectRefused(client, await token(), PLEASE);
    }
    expectGone(await client.delete(`/invites/${invited.id}`));
    await expectRefused(client, await token());
  });

  it("refuses the token as invalid if another organization sent the invite, or it has another signature", async () => {
    const { client, provider, invited, token } = await anInvitee();
    const other = await anOrganization();
    await provider.register(other);
    await expectRefused(client, await token(), PLEASE);
    await expectRefused(other.client, await token());
    const stolen = await aKey("ES256", provider.key.kid);
    await expectRefused(client, await provider.token({ email: invited.email }, {}, stolen));
  });
});

it("POST /auth/token_exchange refuses a body that is larger than any token with 413", async () => {
  const { client } = await aClinicWithSignIn();
  expectRefusal(await exchange(client, "a".repeat(300 * 1024)), 413);
});
