import {
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from "jose";
import { platform } from "./api.ts";
import { endpoints } from "./network.ts";
import { given, type Organization, unique } from "./organization.ts";

export const AUDIENCE = "video-visits";

export async function aKey(alg = "ES256", kid = unique("key")) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg };
  return { alg, kid, privateKey, publicKey, jwk };
}

export type Key = Awaited<ReturnType<typeof aKey>>;

/**
 * An identity provider whose keys the Worker fetches with its own code. `answer` replaces the response of its endpoint
 * until it is set to undefined. `asked` counts the fetches.
 */
export async function anIdentityProvider(alg?: string) {
  const issuer = `https://${unique("idp")}.test`;
  const jwks_url = `${issuer}/jwks`;
  const provider = {
    issuer,
    jwks_url,
    key: await aKey(alg),
    asked: 0,
    answer: undefined as undefined | ((request: Request) => Response | Promise<Response>),

    keySet: () => ({ keys: [provider.key.jwk] }),

    async rotateKey(): Promise<void> {
      provider.key = await aKey(alg);
    },

    claims(changed: JWTPayload): JWTPayload {
      const now = Math.floor(Date.now() / 1000);
      return { iss: issuer, aud: AUDIENCE, iat: now, exp: now + 300, ...changed };
    },

    /** A valid token, with changes. A claim that is undefined is left out. */
    async token(claims: JWTPayload, header: Partial<JWTHeaderParameters> = {}, key?: Key): Promise<string> {
      const signing = key ?? provider.key;
      return new SignJWT(JSON.parse(JSON.stringify(provider.claims(claims))))
        .setProtectedHeader({ alg: signing.alg, kid: signing.kid, ...header })
        .sign(signing.privateKey);
    },

    register: ({ id }: Pick<Organization, "id">, more: object = {}) =>
      given(
        platform.post(`/organizations/${id}/issuers`, {
          issuer: { issuer, audience: AUDIENCE, jwks_url, ...more },
        }),
      ),
  };
  endpoints.set(jwks_url, async (request) => {
    provider.asked++;
    return provider.answer ? provider.answer(request) : Response.json(provider.keySet());
  });
  return provider;
}

export type IdentityProvider = Awaited<ReturnType<typeof anIdentityProvider>>;
