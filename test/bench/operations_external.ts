/** The external door's operations, with requests that succeed. */
import { type Clinic, DAYS_AGO, unique } from "./clinic.ts";
import { anInvite, aRoom, type Example, newInvite, once, tokenOf } from "./example_parts.ts";

export const externalExamples: Record<string, Example> = {
  "GET /organization_users": () => ({ path: "/organization_users" }),
  "GET /waiting_rooms": () => ({ path: "/waiting_rooms" }),
  "POST /waiting_rooms": () => ({
    path: "/waiting_rooms",
    body: { waiting_room: { name: `Room ${unique()}`, is_active: true } },
  }),
  "GET /waiting_rooms/:slug": ({ slug }) => ({ path: `/waiting_rooms/${slug}--seeded-7` }),
  "PUT /waiting_rooms/:slug": async (clinic) => ({
    path: await aRoom(clinic),
    body: { waiting_room: { name: `Renamed ${unique()}`, is_active: false } },
  }),
  "DELETE /waiting_rooms/:slug": async (clinic) => ({ path: await aRoom(clinic) }),
  "GET /waiting_rooms/:waiting_room_slug/waiting_room_subs": async (clinic) => {
    const path = `/waiting_rooms/${clinic.slug}--seeded-9/waiting_room_subs`;
    const { waiting_room_subs } = await clinic.client("GET", path);
    for (let day = waiting_room_subs.length; day < 10; day++)
      await clinic.client("POST", path, { waiting_room_sub: aSub(clinic, 10 - day) });
    return { path };
  },
  "POST /waiting_rooms/:waiting_room_slug/waiting_room_subs": async (clinic) => ({
    path: `${await aRoom(clinic)}/waiting_room_subs`,
    body: { waiting_room_sub: aSub(clinic, 1) },
  }),
  "PUT /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": async (clinic) => ({
    path: await aRoomsSub(clinic),
    body: { waiting_room_sub: { user_id: null } },
  }),
  "DELETE /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": async (clinic) => ({
    path: await aRoomsSub(clinic),
  }),
  "GET /organization_users/:organization_user_id/calls": ({ provider }) => ({
    path: `/organization_users/${provider.id}/calls`,
  }),
  "GET /call_metrics": () => ({ path: "/call_metrics" }),
  "GET /organization_users/:organization_user_id/calls/:call_id/transcript": ({ call }) => ({
    path: `${call.path}/transcript`,
  }),
  "GET /organization_users/:organization_user_id/calls/:call_id/soap_note": ({ call }) => ({
    path: `${call.path}/soap_note`,
  }),
  "GET /organization_users/:organization_user_id/calls/:call_id/egresses": ({ call }) => ({
    path: `${call.path}/egresses`,
  }),
  "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:id": ({ call }) => ({
    path: `${call.path}/egresses/${call.egress}`,
  }),
  "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:egress_id/audit_logs": ({
    call,
  }) => ({ path: `${call.path}/egresses/${call.audited}/audit_logs` }),
  "POST /auth/token_exchange": async (clinic) => ({
    path: "/auth/token_exchange",
    body: { token_exchange: { token: await tokenOf(clinic) } },
  }),
  "POST /invites/bulk_create": () => ({
    path: "/invites/bulk_create",
    body: { organization_invites: Array.from({ length: 10 }, anInvite) },
  }),
  "GET /bulk_invites/:id": async (clinic) => ({ path: await bulkInviteOf(clinic) }),
  "GET /events": () => ({ path: "/events" }),
  "GET /events, of one type": () => ({ path: "/events?type=call.ended" }),
  "GET /webhook_endpoints": async (clinic) => {
    await endpointOf(clinic);
    return { path: "/webhook_endpoints" };
  },
  "POST /webhook_endpoints": async (clinic) => {
    await deleteNewEndpoints(clinic);
    return { path: "/webhook_endpoints", body: { webhook_endpoint: { url: NEW_ENDPOINT } } };
  },
  "GET /webhook_endpoints/:id": async (clinic) => ({ path: await endpointOf(clinic) }),
  "PUT /webhook_endpoints/:id": async (clinic) => ({
    path: await newEndpoint(clinic),
    body: { webhook_endpoint: { event_types: ["call.ended"], is_active: false } },
  }),
  "DELETE /webhook_endpoints/:id": async (clinic) => ({ path: await newEndpoint(clinic) }),
  "POST /webhook_endpoints/:id/rotate_secret": async (clinic) => ({
    path: `${await newEndpoint(clinic)}/rotate_secret`,
  }),
  "GET /webhook_endpoints/:id/deliveries": async (clinic) => ({
    path: `${(await receiverOf(clinic)).path}/deliveries`,
  }),
  "POST /webhook_endpoints/:id/redeliver": async (clinic) => {
    const { path, after } = await receiverOf(clinic);
    return { path: `${path}/redeliver`, body: { after } };
  },
  "POST /webhook_endpoints/:id/ping": async (clinic) => ({ path: `${(await receiverOf(clinic)).path}/ping` }),
  "GET /roles": () => ({ path: "/roles" }),
  "GET /invites": () => ({ path: "/invites" }),
  "POST /invites": () => ({ path: "/invites", body: { organization_invite: anInvite() } }),
  "GET /invites/:id": async (clinic) => ({ path: await inviteOf(clinic) }),
  "DELETE /invites/:id": async (clinic) => ({ path: await newInvite(clinic) }),
};

/** A sub that begins so many days from now, and lasts a day. */
const aSub = ({ provider }: Clinic, days: number) => ({
  user_id: provider.user_id,
  datetime_start: DAYS_AGO(-days),
});

async function aRoomsSub(clinic: Clinic) {
  const path = `${await aRoom(clinic)}/waiting_room_subs`;
  const sub = await clinic.client("POST", path, { waiting_room_sub: aSub(clinic, 1) });
  return `${path}/${sub.id}`;
}

const inviteOf = once(newInvite);

const KEPT_ENDPOINT = "https://hooks.example.com/visits";
const NEW_ENDPOINT = "https://new.example.com/visits";

const endpointOf = once((clinic) => anEndpoint(clinic, KEPT_ENDPOINT));

const RECEIVER = "https://receiver.example.com/visits";

/** An endpoint with 25 deliveries, and the event before the last 20. What is sent there is accepted at once. */
const receiverOf = once(async ({ client, addUser }) => {
  const realFetch = globalThis.fetch;
  globalThis.fetch = async (input, init) =>
    String(input) === RECEIVER ? new Response(null, { status: 204 }) : realFetch(input, init);
  const { id } = await client("POST", "/webhook_endpoints", {
    webhook_endpoint: { url: RECEIVER, event_types: ["organization_user.added"] },
  });
  for (let n = 0; n < 25; n++) await addUser("Max Member", ["provider_assistant"]);
  const path = `/webhook_endpoints/${id}`;
  const { deliveries } = await client("GET", `${path}/deliveries`);
  return { path, after: deliveries[20].event_id };
});

async function newEndpoint(clinic: Clinic) {
  await deleteNewEndpoints(clinic);
  return anEndpoint(clinic, NEW_ENDPOINT);
}

async function anEndpoint({ client }: Clinic, url: string): Promise<string> {
  return `/webhook_endpoints/${(await client("POST", "/webhook_endpoints", { webhook_endpoint: { url } })).id}`;
}

/** An organization has at most ten endpoints, so those of earlier requests go. */
async function deleteNewEndpoints({ client }: Clinic) {
  const { webhook_endpoints } = await client("GET", "/webhook_endpoints");
  for (const { id, url } of webhook_endpoints)
    if (url !== KEPT_ENDPOINT && url !== RECEIVER) await client("DELETE", `/webhook_endpoints/${id}`);
}

const bulkInviteOf = once(async ({ client }) => {
  const rows = { organization_invites: Array.from({ length: 10 }, anInvite) };
  const { bulk_invite } = await client("POST", "/invites/bulk_create", rows);
  return `/bulk_invites/${bulk_invite.id}`;
});
