import type { startIdentityProvider } from "../../../src/dev/identity_provider.ts";
import { anOrganization } from "./organization.ts";

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

/** An organization of the server whose users sign in with the identity provider. */
export async function aClinicWithSignIn(url: string, identityProvider: IdentityProvider) {
  const { organization, base, user, platform, external } = await anOrganization(url);
  const { issuer, audience, jwks_url } = identityProvider;
  await platform("POST", `${base}/issuers`, { issuer: { issuer, audience, jwks_url } });
  const exchange = async (email: string) =>
    external("POST", "/auth/token_exchange", {
      token_exchange: { token: await identityProvider.signIn(email) },
    });
  return { organization, base, admin: user, platform, external, exchange };
}
