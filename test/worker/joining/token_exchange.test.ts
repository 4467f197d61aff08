import { describe, expect, it } from "vitest";
import { expectGone, expectRefusal } from "../support/expectations.ts";
import { AUDIENCE, aKey, anIdentityProvider } from "../support/identity_provider.ts";
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

  it.each([
    ["in upper case", (email: string) => email.toUpperCase()],
    ["in mixed case", (email: string) => email.replace("user", "uSeR").replace("example", "ExamPle")],
    ["with spaces around it", (email: string) => `  ${email}\t\n`],
    ["in upper case, with spaces around it", (email: string) => ` ${email.toUpperCase()} `],
  ])("finds the user by an email %s", async (_, spelt) => {
    const { clinic, client, provider, email } = await aClinicWithSignIn();
    expect(spelt(email)).not.toBe(email);
    const { organization_user } = await signIn(client, await provider.token({ email: spelt(email) }));
    expect(organization_user.id).toBe(clinic.admin.id);
  });

  it("accepts several audiences if ours is one of them", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    await expectExchanged(client, await provider.token({ email, aud: ["another", AUDIENCE, "third"] }));
    await expectExchanged(client, await provider.token({ email, aud: [AUDIENCE] }));
    await expectRefused(client, await provider.token({ email, aud: ["another", "third"] }));
  });

  it("accepts a long token, for people in many groups", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const groups = Array.from({ length: 1500 }, (_, n) => `group-${n}-of-the-clinic`);
    const token = await provider.token({ email, groups });
    expect(token.length).toBeGreaterThan(40_000);
    await expectExchanged(client, token);
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

  it("accepts tokens of every issuer of the organization", async () => {
    const { clinic, client, provider, email } = await aClinicWithSignIn();
    const second = await anIdentityProvider("EdDSA");
    await second.register(clinic, { audience: "second" });
    await expectExchanged(client, await provider.token({ email }));
    await expectExchanged(client, await second.token({ email, aud: "second" }));
    await expectRefused(client, await second.token({ email }));
  });

  it("works for every client of the organization, whatever its role", async () => {
    const { clinic, provider, email } = await aClinicWithSignIn();
    const paula = await clinic.addProvider();
    const client = await clinic.addClient(paula.id);
    const { organization_user } = await signIn(client, await provider.token({ email }));
    expect(organization_user.id).toBe(clinic.admin.id);
  });
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

  it("refuses the token as invalid if another organization sent the invite", async () => {
    const { provider, invited, client, token } = await anInvitee();
    const other = await anOrganization();
    await provider.register(other);
    await expectRefused(client, await token(), PLEASE);
    await expectRefused(other.client, await provider.token({ email: invited.email }));
  });

  it("does not reveal the invite if the token is not valid", async () => {
    const { client, provider, invited } = await anInvitee();
    const stolen = await aKey("ES256", provider.key.kid);
    await expectRefused(client, await provider.token({ email: invited.email }), PLEASE);
    await expectRefused(client, await provider.token({ email: invited.email }, {}, stolen));
  });
});

it("POST /auth/token_exchange refuses a body that is larger than any token with 413", async () => {
  const { client } = await aClinicWithSignIn();
  expectRefusal(await exchange(client, "a".repeat(300 * 1024)), 413);
});
