import type { startIdentityProvider } from "../../../src/dev/identity_provider.ts";
import type { caller } from "./callers.ts";

type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

/** Lets users of the organization sign in with the identity provider. */
export const registerIssuer = (
  platform: ReturnType<typeof caller>,
  base: string,
  { issuer, audience, jwks_url }: IdentityProvider,
) => platform("POST", `${base}/issuers`, { issuer: { issuer, audience, jwks_url } });
