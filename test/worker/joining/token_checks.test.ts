import type { JWTHeaderParameters, JWTPayload } from "jose";
import { expect, it } from "vitest";
import { everyRowAsText } from "../support/database.ts";
import { AUDIENCE, aKey } from "../support/identity_provider.ts";
import { given } from "../support/organization.ts";
import { aClinicWithSignIn, expectExchanged, expectRefused } from "../support/sign_in.ts";

async function aScene() {
  const scene = await aClinicWithSignIn();
  const { clinic, provider } = scene;
  const check = async (token: string) =>
    given(clinic.client.post("/token_checks", { token_check: { token } }));
  const { issuer } = provider;
  const person = { issuer, audience: AUDIENCE, email: scene.email, organization_user_id: clinic.admin.id };
  return { ...scene, check, person };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

const NOTHING = { issuer: null, audience: null, email: null, organization_user_id: null };

const NOW = Math.floor(Date.now() / 1000);

it("POST /token_checks says who a token is about, and exchanges nothing and records nothing", async () => {
  const { client, provider, check, person, email } = await aScene();
  const token = await provider.token({ email: [` ${email.toUpperCase()}`], aud: ["other", AUDIENCE] });
  await check(token);
  const rows = await everyRowAsText();
  expect(await check(token)).toEqual({ ...person, reason: null });
  expect(await everyRowAsText()).toEqual(rows);
  await expectExchanged(client, token);
});

it.each<[string, JWTPayload, Partial<JWTHeaderParameters>?]>([
  ["audience_wrong", { aud: "other" }],
  ["not_yet_valid", { nbf: NOW + 600 }],
  ["malformed", { exp: undefined }],
  ["signature_invalid", {}, { kid: "unknown" }],
  ["email_missing", { email: "Paula" }],
  ["email_unverified", { email_verified: false }],
])(
  "POST /token_checks answers %s where the exchange says only Invalid token: %j",
  async (reason, changed, header) => {
    const { client, provider, check, person, email } = await aScene();
    const claims = { email, ...changed };
    const token = await provider.token(claims, header);
    await expectRefused(client, token);
    const shown = claims.email === email ? person : { ...person, organization_user_id: null };
    const { email: claimed = null } = claims;
    expect(await check(token)).toEqual({
      ...shown,
      email: claimed,
      audience: changed.aud ?? AUDIENCE,
      reason,
    });
  },
);

it.each<[string, (scene: Scene) => Promise<string>]>([
  ["malformed", async () => "e30.e30.e30"],
  ["issuer_unknown", ({ provider, email }) => provider.token({ email, iss: "https://another.test" })],
])(
  "POST /token_checks shows no claims of an issuer that is not the organization's: %s",
  async (reason, make) => {
    const scene = await aScene();
    expect(await scene.check(await make(scene))).toEqual({ ...NOTHING, reason });
  },
);

it("POST /token_checks says what is wrong with the signature and the keys", async () => {
  const { provider, check, person, email } = await aScene();
  const forged = await provider.token({ email }, {}, await aKey("ES256", provider.key.kid));
  expect(await check(forged)).toEqual({ ...person, reason: "signature_invalid" });
  const down = await aScene();
  down.provider.answer = () => new Response(null, { status: 500 });
  const token = await down.provider.token({ email: down.email });
  expect(await down.check(token)).toEqual({ ...down.person, reason: "keys_unavailable" });
});
