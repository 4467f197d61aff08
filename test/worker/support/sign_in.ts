import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { type Api, platform } from "./api.ts";
import { expectRefusal } from "./expectations.ts";
import { anIdentityProvider } from "./identity_provider.ts";
import { anOrganization, given, unique } from "./organization.ts";

type Client = Pick<Api, "post">;

export const exchange = (client: Client, token: unknown) =>
  client.post("/auth/token_exchange", { token_exchange: { token } });

export const redeem = (code: unknown) => platform.post("/authorization_codes/redeem", { code });

export async function aClinicWithSignIn({
  alg,
  ...issuer
}: {
  alg?: string;
  audience?: string;
  email_claim?: string;
  require_verified_email?: boolean;
} = {}) {
  const clinic = await anOrganization();
  const provider = await anIdentityProvider(alg);
  const registered = await provider.register(clinic, issuer);
  return { clinic, provider, issuer: registered, client: clinic.client, email: clinic.admin.email as string };
}

export const anEmail = () => `${unique("somebody")}@example.com`;

export async function expectExchanged(client: Client, token: string): Promise<string> {
  const { status, body } = await exchange(client, token);
  expect({ status, body }).toEqual({
    status: 200,
    body: { code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) },
  });
  return body.code;
}

/** Exchanges a token, redeems the code, and returns who signed in. */
export const signIn = async (client: Client, token: string) =>
  given(redeem(await expectExchanged(client, token)));

/** Expects a token to be refused as the contract says, and no code to be made. */
export async function expectRefused(client: Client, token: string, error = "Invalid token") {
  const before = await storedCodes();
  expectRefusal(await exchange(client, token), 401, error);
  expect(await storedCodes()).toEqual(before);
}

export async function storedCodes() {
  const { results } = await env.DB.prepare("select * from authorization_codes order by id").all();
  return results;
}
