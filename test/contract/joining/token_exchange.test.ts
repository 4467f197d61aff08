import { describe, expect, it } from "vitest";
import { platform } from "../../worker/support/api.ts";
import { expectRefusal } from "../../worker/support/expectations.ts";
import { AUDIENCE, aKey, anIdentityProvider } from "../../worker/support/identity_provider.ts";
import { accept } from "../../worker/support/invites.ts";
import { given } from "../../worker/support/organization.ts";
import {
  aClinicWithSignIn,
  exchange,
  expectExchanged,
  expectRefused,
  redeem,
  signIn,
} from "../../worker/support/sign_in.ts";

describe("POST /auth/token_exchange", () => {
  it("token_exchange: object, body, required, wrapper; token_exchange.token: string, body, required, JWT to exchange", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const token = await provider.token({ email });
    for (const body of [{}, { token }, { token_exchange: token }])
      expectRefusal(await client.post("/auth/token_exchange", body), 422, /^token_exchange: /);
    for (const wrong of [undefined, null, 42, [token]])
      expectRefusal(await exchange(client, wrong), 422, /^token_exchange\.token: /);
    await expectExchanged(client, token);
  });

  it("Response: object with code (string), the authorization code.", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const token = await provider.token({ email });
    expect((await signIn(client, token)).user.email).toBe(email);
    const codes = [await expectExchanged(client, token), await expectExchanged(client, token)];
    expect(new Set(codes).size).toBe(2);
  });
});

describe("Token requirements", () => {
  it("signed with the private key of a recognized issuer", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const own = await aKey(provider.key.alg, provider.key.kid);
    await expectExchanged(client, await provider.token({ email }));
    await expectRefused(client, await provider.token({ email }, {}, own));
  });

  it("issuer registered with the service operator", async () => {
    const { clinic, client, email } = await aClinicWithSignIn();
    const another = await anIdentityProvider();
    await expectRefused(client, await another.token({ email }));
    await another.register(clinic);
    await expectExchanged(client, await another.token({ email }));
  });

  it("user has accepted the organization invite", async () => {
    const { clinic, client, provider } = await aClinicWithSignIn();
    const invited = await clinic.addInvite();
    for (const email of [invited.email, ` ${invited.email.toUpperCase()} `])
      await expectRefused(client, await provider.token({ email }), "Please accept your invite");
    const user = await given(accept(invited));
    const signedIn = await signIn(client, await provider.token({ email: invited.email }));
    expect(signedIn.organization_user).toEqual({ id: user.id, roles: ["provider"] });
    expect(signedIn.user).toEqual({ id: user.user_id, email: invited.email, display_name: "Ivy Invitee" });
  });

  it("token valid and not expired", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const now = Math.floor(Date.now() / 1000);
    await expectRefused(client, "token");
    await expectRefused(client, await provider.token({ email, exp: now - 120 }));
    await expectExchanged(client, await provider.token({ email, exp: now + 120 }));
  });

  it("Each issuer is configured with an issuer URL (iss claim)", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    await expectRefused(client, await provider.token({ email, iss: `${provider.issuer}/` }));
    await expectExchanged(client, await provider.token({ email, iss: provider.issuer }));
  });

  it("an expected audience (aud claim)", async () => {
    const { client, provider, email } = await aClinicWithSignIn({ audience: "riverside" });
    await expectExchanged(client, await provider.token({ email, aud: "riverside" }));
    await expectRefused(client, await provider.token({ email, aud: AUDIENCE }));
  });

  it("and a JWKS endpoint for signature verification.", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    expect(provider.asked).toBe(0);
    await expectExchanged(client, await provider.token({ email }));
    expect(provider.asked).toBe(1);
  });
});

it("Usage flow: obtain a JWT from the identity provider; call this endpoint; redirect the user's browser to {app_url}/login with query parameters code=<authorization_code> and redirect=/meet/<waiting_room_slug>.", async () => {
  const { clinic, client, provider, email } = await aClinicWithSignIn();
  const { id, slug } = await clinic.addRoom();
  const token = await provider.token({ email });
  const { code } = await given(exchange(client, token));
  const login = new URL(`https://app.test/login?code=${code}&redirect=/meet/${slug}`).searchParams;
  expect((await given(redeem(login.get("code")))).organization_user.id).toBe(clinic.admin.id);
  const room = login.get("redirect")?.replace("/meet/", "");
  expect((await given(platform.get(`/waiting_rooms/${room}`))).waiting_room.id).toBe(id);
});
