/** An organization to measure with, made through the service's own doors. */
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { PLATFORM_TOKEN } from "./local_platform.ts";
import { seedLists } from "./seed.ts";
import { spokenLines } from "./speech.ts";

/** A Worker's fetch handler, ours or the floor's. */
export type Handler = (request: Request, env: Env, context: ExecutionContext) => Response | Promise<Response>;

/** Answers one request with everything that it left for later done too. */
export async function answer(handler: Handler, request: Request, env: Env): Promise<Response> {
  const later: Promise<unknown>[] = [];
  const context = { waitUntil: (work: Promise<unknown>) => later.push(work), passThroughOnException() {} };
  const response = await handler(request, env, context as unknown as ExecutionContext);
  if (later.length > 0) await Promise.all(later);
  return response;
}

export const ORIGIN = "http://service.test";

/** As it arrives over HTTP: with a Content-Length, which a Request made in Node lacks. */
export function makeRequest(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Request {
  if (body === undefined) return new Request(ORIGIN + path, { method, headers });
  const sent = JSON.stringify(body);
  const described = {
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(sent)),
  };
  return new Request(ORIGIN + path, { method, headers: { ...headers, ...described }, body: sent });
}

let made = 0;

/** Unlike any other in this run, and of a form that a comparison can mask (see comparison.ts). */
export const unique = () => `q${++made}q`;

export type Clinic = Awaited<ReturnType<typeof openClinic>>;

/**
 * @param size how many waiting rooms, invites, calls of one provider, and audit entries of one egress it has
 */
export async function openClinic(handler: Handler, env: Env, size: number) {
  const send = async (method: string, path: string, headers: Record<string, string>, body?: object) => {
    const response = await answer(handler, makeRequest(method, path, headers, body), env);
    const text = await response.text();
    if (response.status >= 300)
      throw new Error(`Set-up failed: ${method} ${path} ${response.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
  };
  const platform = (method: string, path: string, body?: object) =>
    send(method, `/api/platform${path}`, { Authorization: `Bearer ${PLATFORM_TOKEN}` }, body);

  const slug = `clinic-${size}`;
  const { id } = await platform("POST", "/organizations", {
    organization: { name: "Riverside Clinic", slug },
  });
  const addUser = (display_name: string, roles: string[]) =>
    platform("POST", `/organizations/${id}/users`, {
      user: { email: `${unique()}@example.com`, display_name, roles },
    });
  const admin = await addUser("Ada Admin", ["organization_admin"]);
  const provider = await addUser("Paula Provider", ["provider"]);
  const { client_id, client_secret } = await platform("POST", `/organizations/${id}/api_clients`, {
    api_client: { name: "Integration", organization_user_id: admin.id },
  });
  const credentials = { "X-Client-ID": client_id, "X-Client-Secret": client_secret };
  const client = (method: string, path: string, body?: object) =>
    send(method, `/api/external${path}`, credentials, body);

  const call = await reportCall(platform, provider);
  await seedLists(env.DB, { organization_id: id, organization_user_id: provider.id, call, size, slug });
  return {
    id,
    slug,
    admin,
    provider,
    credentials,
    client,
    addUser,
    platform,
    call,
    signIn: () => signIn(platform, id, admin.email),
  };
}

type Send = (method: string, path: string, body?: object) => ReturnType<typeof JSON.parse>;

/** The lines of an hour of conversation. */
export const AN_HOUR = 600;

/** An ended call with everything that a call can leave behind. */
export async function reportCall(
  platform: Send,
  provider: { id: number; waiting_room_slug: string },
  lines = AN_HOUR,
  seed = 1,
) {
  const [key, speaker, listener, egress_id] = [unique(), unique(), unique(), unique()];
  const [started_at, ended_at] = [DAYS_AGO(2), DAYS_AGO(1.99)];
  const { id, waiting_room_id } = await platform("PUT", `/calls/${key}`, {
    call: {
      waiting_room_slug: provider.waiting_room_slug,
      organization_user_id: provider.id,
      started_at,
      ended_at,
      participants: [
        { key: speaker, display_name: "Paula Provider", role: "provider", recording_consent: true },
        { key: listener, display_name: "Rita Recipient", role: "recipient", recording_consent: true },
      ],
    },
  });
  await platform("PUT", `/calls/${key}/transcript`, {
    transcript: {
      summary: "A follow-up on blood pressure, which has come down.",
      is_final: true,
      lines: spokenLines([speaker, listener], lines, seed),
    },
  });
  await platform("PUT", `/calls/${key}/soap_note`, {
    soap_note: { text: "Subjective: feels better.\nObjective: 128/82 at home.", is_final: true },
  });
  const egress = await platform("PUT", `/egresses/${egress_id}`, {
    egress: {
      call_key: key,
      status: "egress_ended",
      is_stopped: true,
      ended_at,
      storage_key: "clinic/call.wav",
    },
  });
  // A second one, which has only the audit entries of the growing list.
  const audited = await platform("PUT", `/egresses/${unique()}`, {
    egress: {
      call_key: key,
      status: "egress_ended",
      is_stopped: true,
      ended_at,
      storage_key: "clinic/two.wav",
    },
  });
  return {
    id,
    waiting_room_id,
    path: `/organization_users/${provider.id}/calls/${id}`,
    egress: egress.id,
    audited: audited.id,
  };
}

export const DAYS_AGO = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** An identity provider of the organization, and a token of its administrator's. Keys come without a network. */
async function signIn(platform: Send, organization_id: number, email: string): Promise<string> {
  const issuer = `https://${unique()}.test`;
  const jwks_url = `${issuer}/jwks`;
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: "key", alg: "ES256" };
  const realFetch = globalThis.fetch;
  globalThis.fetch = async (input, init) =>
    String(input) === jwks_url ? Response.json({ keys: [jwk] }) : realFetch(input, init);
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
