import { describe, expect, it } from "vitest";
import { expectGone, expectRefusal } from "./support/expectations.ts";
import { AUDIENCE, aKey, anIdentityProvider } from "./support/identity_provider.ts";
import { accept } from "./support/invites.ts";
import { anInvite, anOrganization, given } from "./support/organization.ts";
import {
  aClinicWithSignIn,
  anEmail,
  exchange,
  expectExchanged,
  expectRefused,
  signIn,
} from "./support/sign_in.ts";
import { travelTo } from "./support/time.ts";

const ALGORITHMS = [
  ...["RS256", "RS384", "RS512"],
  ...["PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512"],
  ...["EdDSA", "Ed25519"],
];

describe("A valid token", () => {
  it.each(ALGORITHMS)("signed with %s is exchanged for a code of its user", async (alg) => {
    const { clinic, client, provider, email } = await aClinicWithSignIn({ alg });
    const signedIn = await signIn(client, await provider.token({ email }));
    expect(signedIn.organization_user.id).toBe(clinic.admin.id);
  });

  it("can be exchanged again: each exchange gives a new code, and each code is valid", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const token = await provider.token({ email });
    const users = [];
    for (let n = 0; n < 3; n++) users.push((await signIn(client, token)).user.email);
    expect(users).toEqual([email, email, email]);
    const codes = [await expectExchanged(client, token), await expectExchanged(client, token)];
    expect(new Set(codes).size).toBe(2);
  });

  it.each([
    ["in upper case", (email: string) => email.toUpperCase()],
    ["in mixed case", (email: string) => email.replace("user", "uSeR").replace("example", "ExamPle")],
    ["with spaces around it", (email: string) => `  ${email}\t\n`],
    ["in upper case, with spaces around it", (email: string) => ` ${email.toUpperCase()} `],
  ])("finds its user by an email %s", async (_, spelt) => {
    const { clinic, client, provider, email } = await aClinicWithSignIn();
    expect(spelt(email)).not.toBe(email);
    const { organization_user } = await signIn(client, await provider.token({ email: spelt(email) }));
    expect(organization_user.id).toBe(clinic.admin.id);
  });

  it("finds its user by the issuer's own email claim, and by no other", async () => {
    const { clinic, client, provider } = await aClinicWithSignIn({ email_claim: "upn" });
    const paula = await clinic.addProvider("Paula Provider");
    const { organization_user } = await signIn(
      client,
      await provider.token({ upn: paula.email, email: clinic.admin.email }),
    );
    expect(organization_user.id).toBe(paula.id);
    await expectRefused(client, await provider.token({ email: paula.email }));
    await expectRefused(client, await provider.token({ upn: anEmail(), email: paula.email }));
  });

  it.each([
    ["is true", true],
    ["is the text true", "true"],
    ["is left out", undefined],
  ])("is exchanged if email_verified %s", async (_, email_verified) => {
    const { client, provider, email } = await aClinicWithSignIn();
    await expectExchanged(client, await provider.token({ email, email_verified }));
  });

  it("can name several audiences if ours is one of them", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    await expectExchanged(client, await provider.token({ email, aud: ["another", AUDIENCE, "third"] }));
    await expectExchanged(client, await provider.token({ email, aud: [AUDIENCE] }));
    await expectRefused(client, await provider.token({ email, aud: ["another", "third"] }));
  });

  it("is for the audience that the issuer was registered with", async () => {
    const { client, provider, email } = await aClinicWithSignIn({ audience: "riverside" });
    await expectExchanged(client, await provider.token({ email, aud: "riverside" }));
    await expectRefused(client, await provider.token({ email, aud: AUDIENCE }));
  });

  it("need not name its key if the provider has only one", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    await expectExchanged(client, await provider.token({ email }, { kid: undefined }));
  });

  it("can contain more than it needs: a type, an issue time, a not-before time, other claims", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const now = Math.floor(Date.now() / 1000);
    const claims = { email, sub: "42", nbf: now - 10, jti: "1", groups: ["a", "b"], constructor: "x" };
    await expectExchanged(client, await provider.token(claims, { typ: "JWT" }));
  });

  it("can be long, for people in many groups", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const groups = Array.from({ length: 1500 }, (_, n) => `group-${n}-of-the-clinic`);
    const token = await provider.token({ email, groups });
    expect(token.length).toBeGreaterThan(40_000);
    await expectExchanged(client, token);
  });

  it("is verified by the right one of a provider's keys, whatever else it publishes", async () => {
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

  it("can come from any issuer of the organization", async () => {
    const { clinic, client, provider, email } = await aClinicWithSignIn();
    const second = await anIdentityProvider("EdDSA");
    await second.register(clinic, { audience: "second" });
    await expectExchanged(client, await provider.token({ email }));
    await expectExchanged(client, await second.token({ email, aud: "second" }));
    await expectRefused(client, await second.token({ email }));
  });

  it("can be exchanged by any client of the organization, whatever its role", async () => {
    const { clinic, provider, email } = await aClinicWithSignIn();
    const paula = await clinic.addProvider();
    const client = await clinic.addClient(paula.id);
    const { organization_user } = await signIn(client, await provider.token({ email }));
    expect(organization_user.id).toBe(clinic.admin.id);
  });
});

describe("The token of an invitee", () => {
  async function anInvitee() {
    const scene = await aClinicWithSignIn();
    const invited = await scene.clinic.addInvite();
    const token = () => scene.provider.token({ email: invited.email });
    return { ...scene, invited, token };
  }

  const PLEASE = "Please accept your invite";

  it("is refused while the invite is pending, with any spelling of the email, and valid after it was accepted", async () => {
    const { client, provider, invited, token } = await anInvitee();
    await expectRefused(client, await token(), PLEASE);
    const email = ` ${invited.email.toUpperCase()} `;
    await expectRefused(client, await provider.token({ email }), PLEASE);
    const user = await given(accept(invited));
    const signedIn = await signIn(client, await token());
    expect(signedIn.organization_user).toEqual({ id: user.id, roles: ["provider"] });
    expect(signedIn.user).toEqual({ id: user.user_id, email: invited.email, display_name: "Ivy Invitee" });
  });

  it("is refused in the same way when the invite has expired, and invalid after it was deleted", async () => {
    const { client, invited, token } = await anInvitee();
    const expiry = Date.parse(invited.expires_at);
    for (const time of [expiry - 1, expiry, expiry + 365 * 86_400_000]) {
      travelTo(new Date(time).toISOString());
      await expectRefused(client, await token(), PLEASE);
    }
    expectGone(await client.delete(`/invites/${invited.id}`));
    await expectRefused(client, await token());
  });

  it("is refused in the same way when a new invite takes the place of an expired one, until it was accepted", async () => {
    const { client, invited, token } = await anInvitee();
    travelTo(invited.expires_at);
    await expectRefused(client, await token(), PLEASE);
    expectGone(await client.delete(`/invites/${invited.id}`));
    const next = await given(
      client.post("/invites", { organization_invite: anInvite({ email: invited.email }) }),
    );
    await expectRefused(client, await token(), PLEASE);
    const user = await given(accept(next));
    expect((await signIn(client, await token())).organization_user.id).toBe(user.id);
  });

  it("is invalid if another organization sent the invite", async () => {
    const { provider, invited, client, token } = await anInvitee();
    const other = await anOrganization();
    await provider.register(other);
    await expectRefused(client, await token(), PLEASE);
    await expectRefused(other.client, await provider.token({ email: invited.email }));
  });

  it("does not reveal the invite if it is not valid", async () => {
    const { client, provider, invited } = await anInvitee();
    const stolen = await aKey("ES256", provider.key.kid);
    await expectRefused(client, await provider.token({ email: invited.email }), PLEASE);
    await expectRefused(client, await provider.token({ email: invited.email }, {}, stolen));
  });
});

it("A request without a token is refused with 413 if it is larger than any token", async () => {
  const { client } = await aClinicWithSignIn();
  expectRefusal(await exchange(client, "a".repeat(300 * 1024)), 413);
});
