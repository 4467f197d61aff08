import type { startIdentityProvider } from "../../../src/dev/identity_provider.ts";
import { anOrganization } from "./organization.ts";
import type { caller } from "./server.ts";

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

/** Users of the organization sign in with the identity provider. */
export const registerIssuer = (
  platform: ReturnType<typeof caller>,
  base: string,
  { issuer, audience, jwks_url }: IdentityProvider,
) => platform("POST", `${base}/issuers`, { issuer: { issuer, audience, jwks_url } });

/** An organization of the server whose users sign in with the identity provider. */
export async function aClinicWithSignIn(url: string, identityProvider: IdentityProvider) {
  const { organization, base, user, platform, external } = await anOrganization(url);
  await registerIssuer(platform, base, identityProvider);
  const exchange = async (email: string) =>
    external("POST", "/auth/token_exchange", {
      token_exchange: { token: await identityProvider.signIn(email) },
    });
  return { organization, base, admin: user, platform, external, exchange };
}
