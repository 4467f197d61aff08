import { app } from "../../../src/app.ts";
import { aCall } from "./calls.ts";
import { platform } from "./door.ts";
import { anIdentityProvider } from "./identity_provider.ts";
import { aLiveKitRoom } from "./livekit.ts";
import { anInvite, given, type Organization, unique } from "./organization.ts";
import { aReceiver } from "./webhooks.ts";

/** A request that succeeds for the organization that owns the things it names. */
export interface Example {
  path: string;
  body?: object;
  /** The status for another organization if the path contains no id; success by default. */
  statusForOthers?: number;
}

/**
 * An example for each route of the external door, by method and pattern, with things of the organization. The tests that
 * run over all routes fail for a route that is missing here.
 */
export const externalExamples: Record<string, (organization: Organization) => Promise<Example>> = {
  "GET /organization_users": async () => ({ path: "/organization_users" }),
  "GET /waiting_rooms": async () => ({ path: "/waiting_rooms" }),
  "POST /waiting_rooms": async () => ({
    path: "/waiting_rooms",
    body: { waiting_room: { name: "Oncology" } },
  }),
  "GET /waiting_rooms/:slug": async (organization) => ({ path: await aRoom(organization) }),
  "PUT /waiting_rooms/:slug": async (organization) => ({
    path: await aRoom(organization),
    body: { waiting_room: { name: "Renamed", is_active: false } },
  }),
  "DELETE /waiting_rooms/:slug": async (organization) => ({ path: await aRoom(organization) }),
  "GET /waiting_rooms/:waiting_room_slug/waiting_room_subs": async (organization) => ({
    path: `${await aRoom(organization)}/waiting_room_subs`,
  }),
  "POST /waiting_rooms/:waiting_room_slug/waiting_room_subs": async (organization) => ({
    path: `${await aRoom(organization)}/waiting_room_subs`,
    body: { waiting_room_sub: await aSub(organization) },
  }),
  "PUT /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": async (organization) => ({
    path: await aRoomsSub(organization),
    body: { waiting_room_sub: { user_id: null } },
  }),
  "DELETE /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": async (organization) => ({
    path: await aRoomsSub(organization),
  }),
  "GET /organization_users/:organization_user_id/calls": async (organization) => ({
    path: `/organization_users/${(await aCall(organization)).owner.id}/calls`,
  }),
  "GET /call_metrics": async () => ({ path: "/call_metrics" }),
  "GET /organization_users/:organization_user_id/calls/:call_id/transcript": async (organization) => {
    const { path, participants, reportTranscript } = await aCall(organization);
    const line = {
      participant_key: participants[0]?.key,
      text: "Good morning.",
      start_time: 0,
      end_time: 1.5,
    };
    await given(reportTranscript({ summary: "A greeting.", is_final: true, lines: [line] }));
    return { path: `${path}/transcript` };
  },
  "GET /organization_users/:organization_user_id/calls/:call_id/soap_note": async (organization) => {
    const { path, reportSoapNote } = await aCall(organization);
    await given(reportSoapNote({ text: "Subjective: well.", is_final: true }));
    return { path: `${path}/soap_note` };
  },
  "GET /organization_users/:organization_user_id/calls/:call_id/egresses": async (organization) => {
    const { path, addEgress } = await aCall(organization);
    await addEgress();
    return { path: `${path}/egresses` };
  },
  "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:id": async (organization) => {
    const { path, addEgress } = await aCall(organization);
    return { path: `${path}/egresses/${(await addEgress()).id}` };
  },
  "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:egress_id/audit_logs": async (
    organization,
  ) => {
    const { path, addEgress } = await aCall(organization);
    return { path: `${path}/egresses/${(await addEgress()).id}/audit_logs` };
  },
  "POST /auth/token_exchange": async (organization) => {
    const provider = await anIdentityProvider();
    await provider.register(organization);
    const token = await provider.token({ email: organization.admin.email });
    return { path: "/auth/token_exchange", body: { token_exchange: { token } }, statusForOthers: 401 };
  },
  "GET /roles": async () => ({ path: "/roles" }),
  "GET /invites": async (organization) => {
    await organization.addInvite();
    return { path: "/invites" };
  },
  "POST /invites": async () => ({ path: "/invites", body: { organization_invite: anInvite() } }),
  "GET /invites/:id": async (organization) => ({ path: `/invites/${(await organization.addInvite()).id}` }),
  "DELETE /invites/:id": async (organization) => ({
    path: `/invites/${(await organization.addInvite()).id}`,
  }),
  "POST /invites/bulk_create": async () => ({
    path: "/invites/bulk_create",
    body: { organization_invites: [anInvite(), anInvite()] },
  }),
  "GET /bulk_invites/:id": async ({ client }) => {
    const body = { organization_invites: [anInvite()] };
    const { bulk_invite } = await given(client.post("/invites/bulk_create", body));
    return { path: `/bulk_invites/${bulk_invite.id}` };
  },
  "GET /events": async () => ({ path: "/events" }),
  "GET /webhook_endpoints": async (organization) => {
    await aWebhookEndpoint(organization);
    return { path: "/webhook_endpoints" };
  },
  "POST /webhook_endpoints": async () => ({
    path: "/webhook_endpoints",
    body: { webhook_endpoint: { url: "https://hooks.example.com/visits" } },
  }),
  "GET /webhook_endpoints/:id": async (organization) => ({ path: await aWebhookEndpoint(organization) }),
  "PUT /webhook_endpoints/:id": async (organization) => ({
    path: await aWebhookEndpoint(organization),
    body: { webhook_endpoint: { url: "https://other.example.com", event_types: ["call.ended"] } },
  }),
  "DELETE /webhook_endpoints/:id": async (organization) => ({ path: await aWebhookEndpoint(organization) }),
  "POST /webhook_endpoints/:id/rotate_secret": async (organization) => ({
    path: `${await aWebhookEndpoint(organization)}/rotate_secret`,
  }),
  "GET /webhook_endpoints/:id/deliveries": async (organization) => ({
    path: `${await aWebhookEndpoint(organization)}/deliveries`,
  }),
  "POST /webhook_endpoints/:id/redeliver": async (organization) => ({
    path: `${await aWebhookEndpoint(organization)}/redeliver`,
    body: { after: 0 },
  }),
  "POST /webhook_endpoints/:id/ping": async (organization) => ({
    path: `${await aWebhookEndpoint(organization, aReceiver().url)}/ping`,
  }),
};

/** The same for the platform door, which is for all organizations. */
export const platformExamples: Record<string, (organization: Organization) => Promise<Example>> = {
  "GET /organizations": async () => ({ path: "/organizations" }),
  "GET /organizations/:id": async ({ id }) => ({ path: `/organizations/${id}` }),
  "PUT /organizations/:id": async ({ id }) => ({
    path: `/organizations/${id}`,
    body: { organization: { name: "Renamed Clinic", recording_retention_days: 365 } },
  }),
  "POST /organizations": async () => ({
    path: "/organizations",
    body: { organization: { name: "New Clinic" } },
  }),
  "GET /organizations/:id/users": async ({ id }) => ({ path: `/organizations/${id}/users` }),
  "POST /organizations/:id/users": async ({ id }) => ({
    path: `/organizations/${id}/users`,
    body: {
      user: {
        email: `${unique("user")}@example.com`,
        display_name: "New User",
        roles: ["organization_admin"],
      },
    },
  }),
  "PUT /organizations/:id/users/:organization_user_id": async ({ id, addUser }) => ({
    path: `/organizations/${id}/users/${(await addUser("Al User", ["organization_admin"])).id}`,
    body: { user: { roles: ["provider_assistant", "provider"] } },
  }),
  "DELETE /organizations/:id/users/:organization_user_id": async ({ id, addProvider }) => ({
    path: `/organizations/${id}/users/${(await addProvider()).id}`,
  }),
  "GET /organizations/:id/api_clients": async ({ id }) => ({ path: `/organizations/${id}/api_clients` }),
  "POST /organizations/:id/api_clients": async ({ id, admin }) => ({
    path: `/organizations/${id}/api_clients`,
    body: { api_client: { name: "New client", organization_user_id: admin.id } },
  }),
  "DELETE /api_clients/:id": async ({ addClient, admin }) => ({
    path: `/api_clients/${(await addClient(admin.id)).id}`,
  }),
  "GET /waiting_rooms/:slug": async (organization) => ({ path: await aRoom(organization) }),
  "PUT /waiting_rooms/:slug/participants/:key": async (organization) => ({
    path: `${await aRoom(organization)}/participants/${unique("participant")}`,
    body: {
      participant: { display_name: "Rita", role: "recipient", waiting_since: "2026-01-31T09:30:00Z" },
    },
  }),
  "PUT /calls/:key": async (organization) => ({
    path: `/calls/${unique("call")}`,
    body: {
      call: {
        waiting_room_slug: (await organization.addRoom()).slug,
        organization_user_id: (await organization.addProvider()).id,
        started_at: "2026-01-31T09:30:00Z",
        participants: [{ key: unique("participant"), display_name: "Rita", role: "recipient" }],
      },
    },
  }),
  "PUT /calls/:key/transcript": async (organization) => {
    const { key, participants } = await aCall(organization);
    const line = {
      participant_key: participants[0]?.key,
      text: "Good morning.",
      start_time: 0,
      end_time: 1.5,
    };
    return { path: `/calls/${key}/transcript`, body: { transcript: { is_final: false, lines: [line] } } };
  },
  "PUT /calls/:key/soap_note": async (organization) => ({
    path: `/calls/${(await aCall(organization)).key}/soap_note`,
    body: { soap_note: { text: "Subjective: well.", is_final: true } },
  }),
  "PUT /egresses/:egress_id": async (organization) => ({
    path: `/egresses/${unique("egress")}`,
    body: { egress: { call_key: (await aCall(organization)).key, status: "egress_starting" } },
  }),
  "DELETE /egresses/:egress_id": async (organization) => {
    const { addEgress } = await aCall(organization);
    return { path: `/egresses/${(await addEgress()).egress_id}` };
  },
  "DELETE /calls/:key/transcript": async (organization) => {
    const { key, reportTranscript } = await aCall(organization);
    await given(reportTranscript({ is_final: true, lines: [] }));
    return { path: `/calls/${key}/transcript` };
  },
  "DELETE /calls/:key/soap_note": async (organization) => {
    const { key, reportSoapNote } = await aCall(organization);
    await given(reportSoapNote({ text: "Subjective: well.", is_final: true }));
    return { path: `/calls/${key}/soap_note` };
  },
  "GET /organizations/:id/issuers": async ({ id }) => ({ path: `/organizations/${id}/issuers` }),
  "POST /organizations/:id/issuers": async ({ id }) => ({
    path: `/organizations/${id}/issuers`,
    body: {
      issuer: { issuer: "https://idp.test", audience: "video-visits", jwks_url: "https://idp.test/jwks" },
    },
  }),
  "DELETE /issuers/:id": async (organization) => {
    const provider = await anIdentityProvider();
    return { path: `/issuers/${(await provider.register(organization)).id}` };
  },
  "POST /authorization_codes/redeem": async (organization) => {
    const provider = await anIdentityProvider();
    await provider.register(organization);
    const token = await provider.token({ email: organization.admin.email });
    const { code } = await given(
      organization.client.post("/auth/token_exchange", { token_exchange: { token } }),
    );
    return { path: "/authorization_codes/redeem", body: { code } };
  },
  "GET /invites/:id": async ({ addInvite }) => ({ path: `/invites/${(await addInvite()).id}` }),
  "POST /invites/accept": async ({ addInvite }) => {
    const { accept_url } = await given(platform.get(`/invites/${(await addInvite()).id}`));
    return { path: "/invites/accept", body: { token: new URL(accept_url).searchParams.get("token") } };
  },
};

/** The same for LiveKit's door: an event of a room of the organization's. */
export const liveKitExamples: Record<string, (organization: Organization) => Promise<Example>> = {
  "POST /webhook": async (organization) => {
    const room = await aLiveKitRoom(organization);
    return { path: "/webhook", body: JSON.parse(room.joined(unique("participant"), 1)) };
  },
};

/** Method and pattern of each route behind a door. */
export function routesBehind(base: string): string[] {
  const routes = app.routes
    .filter(({ method, path }) => method !== "ALL" && path.startsWith(`${base}/`))
    .map(({ method, path }) => `${method} ${path.slice(base.length)}`);
  return [...new Set(routes)].sort();
}

async function aRoom(organization: Organization) {
  return `/waiting_rooms/${(await organization.addRoom()).slug}`;
}

async function aWebhookEndpoint({ client }: Organization, url = "https://hooks.example.com/visits") {
  const body = { webhook_endpoint: { url } };
  return `/webhook_endpoints/${(await given(client.post("/webhook_endpoints", body))).id}`;
}

async function aSub(organization: Organization) {
  const provider = await organization.addProvider();
  return { user_id: provider.user_id, datetime_start: "2126-01-31T09:30:00Z" };
}

async function aRoomsSub(organization: Organization) {
  const room = await organization.addRoom();
  const sub = await organization.addSub(room.slug, await aSub(organization));
  return `/waiting_rooms/${room.slug}/waiting_room_subs/${sub.id}`;
}
