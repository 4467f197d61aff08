import type { JWTHeaderParameters, JWTPayload } from "jose";
import { expect, it } from "vitest";
import { everyRowAsText } from "../support/database.ts";
import { AUDIENCE } from "../support/identity_provider.ts";
import { given } from "../support/organization.ts";
import { aClinicWithSignIn, expectExchanged, expectRefused } from "../support/sign_in.ts";

async function aScene() {
  const scene = await aClinicWithSignIn();
  const { client, clinic, provider, email } = scene;
  const check = async (token: string) => given(client.post("/token_checks", { token_check: { token } }));
  const person = {
    issuer: provider.issuer,
    audience: AUDIENCE,
    email,
    organization_user_id: clinic.admin.id,
  };
  return { ...scene, check, person };
}

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

/** The model plays the other reasons. */
it.each<[string, JWTPayload, Partial<JWTHeaderParameters>?]>([
  ["not_yet_valid", { nbf: NOW + 600 }],
  ["malformed", { exp: undefined }],
  ["signature_invalid", {}, { kid: "unknown" }],
  ["email_missing", { email: "Paula" }],
  ["email_unverified", { email_verified: false }],
])(
  "POST /token_checks answers %s where the exchange says only Invalid token: %j",
  async (reason, changed, header) => {
    const { client, provider, check, person, email } = await aScene();
    const token = await provider.token({ email, ...changed }, header);
    await expectRefused(client, token);
    const shown = changed.email ? { ...person, email: changed.email, organization_user_id: null } : person;
    expect(await check(token)).toEqual({ ...shown, reason });
  },
);

it("POST /token_checks says that the provider's keys are unavailable", async () => {
  const { provider, check, person, email } = await aScene();
  provider.answer = () => new Response(null, { status: 500 });
  expect(await check(await provider.token({ email }))).toEqual({ ...person, reason: "keys_unavailable" });
});
