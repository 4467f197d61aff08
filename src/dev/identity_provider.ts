import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

const CLIENT = { client_id: "web-app", client_secret: "web-app-secret-for-development-only" };
const REDIRECT_URI = "http://127.0.0.1/signed-in";

/**
 * A certified OpenID provider on this machine, for trying out sign-in. It signs in the user of `login_hint` without a
 * password. Only for development.
 */
export async function startIdentityProvider() {
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let handle = await aProvider(issuer);
  return {
    issuer,
    audience: CLIENT.client_id,
    jwks_url: `${issuer}/jwks`,
    signIn: (email: string) => signIn(issuer, email),
    /** From now on, tokens are signed with another key, and the previous key is no longer published. */
    async rotateKeys() {
      handle = await aProvider(issuer);
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

async function aProvider(issuer: string) {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const key = await exportJWK(privateKey);
  const provider: Provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [REDIRECT_URI] }],
    jwks: { keys: [{ ...key, alg: "RS256", use: "sig", kid: await calculateJwkThumbprint(key) }] },
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false,
    cookies: { keys: [crypto.randomUUID()] },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: sub, email_verified: true }),
    }),
    // No user is asked for consent, because the client belongs to the organization.
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({
        clientId: oidc.client?.clientId ?? "",
        accountId: oidc.session?.accountId ?? "",
      });
      grant.addOIDCScope("openid email");
      await grant.save();
      return grant;
    },
  });
  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith("/interaction/")) return next();
    const { params } = await provider.interactionDetails(ctx.req, ctx.res);
    const login = { accountId: String(params.login_hint) };
    await provider.interactionFinished(ctx.req, ctx.res, { login });
  });
  return provider.callback();
}

/** The authorization code flow with PKCE, like a web app and its user's browser. Returns the ID token. */
async function signIn(issuer: string, email: string): Promise<string> {
  const verifier = crypto.randomUUID() + crypto.randomUUID();
  const challenge = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const query = new URLSearchParams({
    client_id: CLIENT.client_id,
    redirect_uri: REDIRECT_URI,
    response_type: "code",
    scope: "openid email",
    login_hint: email,
    code_challenge: Buffer.from(challenge).toString("base64url"),
    code_challenge_method: "S256",
  });
  const code = await browse(`${issuer}/auth?${query}`);
  const answer = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { Authorization: `Basic ${btoa(`${CLIENT.client_id}:${CLIENT.client_secret}`)}` },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: verifier,
    }),
  });
  const { id_token } = (await answer.json()) as { id_token: string };
  return id_token;
}

/** Follows redirects, with their cookies, until one brings back the code. */
async function browse(start: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = new URL(start);
  for (let step = 0; step < 10; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { Cookie: cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (set.split(";")[0] ?? "").split("=");
      cookies.set(name, value);
    }
    const location = response.headers.get("Location");
    if (!location)
      throw new Error(`The identity provider answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url);
    const code = url.searchParams.get("code");
    if (url.href.startsWith(REDIRECT_URI) && code) return code;
  }
  throw new Error("The identity provider redirects without end");
}
