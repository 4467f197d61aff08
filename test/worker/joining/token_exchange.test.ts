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

  it("trims spaces, tabs and line breaks around the token, which may have 256 KB", async () => {
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
    expectRefusal(await exchange(client, "a".repeat(300 * 1024)), 413);
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
});

it.each<[boolean, string, object]>([
  [true, "with operations other than verify", { key_ops: ["verify", "sign"] }],
  [true, "with members that are null", { use: null, key_ops: null, x5c: null, x5t: null, ext: null }],
  [true, "without an algorithm, as Microsoft Entra publishes it", { alg: undefined }],
  [true, "with a use and operations that agree", { use: "sig", key_ops: ["verify"] }],
  [false, "that is only for signing", { key_ops: ["sign"] }],
])("Whether a published key is used: %s for one %s", async (isUsed, _, more) => {
  const { client, provider, email } = await aClinicWithSignIn();
  provider.answer = () => Response.json({ keys: [{ ...provider.key.jwk, ...more }] });
  const token = await provider.token({ email });
  await (isUsed ? expectExchanged(client, token) : expectRefused(client, token));
});

it("An invitee whose invite has expired is asked to accept it, until it is deleted, but not by another organization or for a forged token", async () => {
  const { clinic, client, provider } = await aClinicWithSignIn();
  const { id, email, expires_at } = await clinic.addInvite();
  const other = await anOrganization();
  await provider.register(other);
  travelTo(expires_at);
  await expectRefused(client, await provider.token({ email }), "Please accept your invite");
  await expectRefused(other.client, await provider.token({ email }));
  await expectRefused(client, await provider.token({ email }, {}, await aKey("ES256", provider.key.kid)));
  expectGone(await client.delete(`/invites/${id}`));
  await expectRefused(client, await provider.token({ email }));
});
