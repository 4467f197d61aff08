import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

const CLIENT = { client_id: "web-app", client_secret: "web-app-secret-for-development-only" };

/** A certified OpenID provider, for development only: it issues an ID token for any user without a login. */
export async function startIdentityProvider() {
  const server = createServer((request, response) => provider.callback()(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let provider = await aProvider(issuer);
  return {
    issuer,
    audience: CLIENT.client_id,
    jwks_url: `${issuer}/jwks`,
    async signIn(email: string): Promise<string> {
      const client = await provider.Client.find(CLIENT.client_id);
      const token = new provider.IdToken({}, { client });
      const claims = { sub: email, email, email_verified: true };
      for (const [name, value] of Object.entries(claims)) token.set(name, value);
      return token.issue({ use: "idtoken" });
    },
    /** Signs tokens with a new key from now on, and no longer publishes the previous key. */
    async rotateKeys() {
      provider = await aProvider(issuer);
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

async function aProvider(issuer: string): Promise<Provider> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const key = await exportJWK(privateKey);
  return new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: ["http://127.0.0.1/signed-in"] }],
    jwks: { keys: [{ ...key, alg: "RS256", use: "sig", kid: await calculateJwkThumbprint(key) }] },
    cookies: { keys: [crypto.randomUUID()] },
    ttl: { IdToken: 600 },
    features: { devInteractions: { enabled: false } },
  });
}
