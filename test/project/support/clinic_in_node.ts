import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { app } from "../../../src/app.ts";
import { AGE_INVITE, aUser, type Clinic, unique } from "../../support/clinic.ts";
import { answer, type Handler, makeRequest, PLATFORM_TOKEN } from "./worker_in_node.ts";

export const platformCredentials = { Authorization: `Bearer ${PLATFORM_TOKEN}` };

export interface ClinicInNode extends Clinic {
  slug: string;
  admin: { id: number; user_id: number };
  /** Headers for the external API. */
  credentials: Record<string, string>;
}

/** Opens an organization in the service of this process. Fetches of the service to other hosts need no network. */
export async function openClinic(env: Env): Promise<ClinicInNode> {
  const sender =
    (api: string, headers: Record<string, string>): Clinic["client"] =>
    async (method, path, body) => {
      const request = makeRequest(method, `/api/${api}${path}`, headers, body);
      const response = await answer(app.fetch as Handler, request, env);
      const text = await response.text();
      if (response.status >= 300)
        throw new Error(`Set-up failed: ${method} ${path} ${response.status} ${text}`);
      return text === "" ? null : JSON.parse(text);
    };
  const platform = sender("platform", platformCredentials);
  const organization = { name: "Riverside Clinic", slug: unique("clinic") };
  const { id } = await platform("POST", "/organizations", { organization });
  const admin = await platform("POST", `/organizations/${id}/users`, {
    user: { ...aUser(), display_name: "Ada Admin", roles: ["organization_admin"] },
  });
  const { client_id, client_secret } = await platform("POST", `/organizations/${id}/api_clients`, {
    api_client: { name: "Integration", organization_user_id: admin.id },
  });
  const credentials = { "X-Client-ID": client_id, "X-Client-Secret": client_secret };
  let token: Promise<string> | undefined;
  return {
    id,
    slug: organization.slug,
    admin,
    credentials,
    client: sender("external", credentials),
    platform,
    signIn() {
      token ??= aToken(platform, id, admin.email);
      return token;
    },
    // The bucket of this process is empty.
    aSealedDay: async () => "2026-01-31",
    async letAge(invite) {
      await env.DB.prepare(AGE_INVITE).bind(invite.id).run();
    },
    aReceiver() {
      const url = `https://${unique("hooks")}.example.com/visits`;
      responses.set(url, () => new Response(null, { status: 204 }));
      return url;
    },
  };
}

/** A token for the user with this email, from a new identity provider of the organization. */
async function aToken(platform: Clinic["platform"], organization_id: number, email: string) {
  const issuer = `https://${unique("idp")}.test`;
  const jwks_url = `${issuer}/jwks`;
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "key", alg: "ES256" };
  responses.set(jwks_url, () => Response.json({ keys: [jwk] }));
  await platform("POST", `/organizations/${organization_id}/issuers`, {
    issuer: { issuer, audience: "video-visits", jwks_url },
  });
  return new SignJWT({ email })
    .setProtectedHeader({ alg: "ES256", kid: "key" })
    .setIssuer(issuer)
    .setAudience("video-visits")
    .setExpirationTime(Math.floor(Date.now() / 1000) + 3600)
    .sign(privateKey);
}

/** The responses that the service gets instead of the network's, by URL. */
const responses = new Map<string, () => Response>();
const realFetch = globalThis.fetch;
globalThis.fetch = async (input, init) => responses.get(String(input))?.() ?? realFetch(input, init);
