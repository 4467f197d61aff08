/** Every operation of the external door, with requests that succeed. */
import { app } from "../../src/app.ts";
import { type Clinic, DAYS_AGO, unique } from "./clinic.ts";

export interface Sent {
  path: string;
  body?: object;
}

/** What to send for an operation. Called for each request anew: what a write takes away is there once. */
type Example = (clinic: Clinic) => Sent | Promise<Sent>;

export const operations: Record<string, Example> = {
  "GET /organization_users": () => ({ path: "/organization_users" }),
  "GET /waiting_rooms": () => ({ path: "/waiting_rooms" }),
  "POST /waiting_rooms": () => ({
    path: "/waiting_rooms",
    body: { waiting_room: { name: `Room ${unique()}`, is_active: true } },
  }),
  "GET /waiting_rooms/:slug": ({ slug }) => ({ path: `/waiting_rooms/${slug}-seeded-7` }),
  "PUT /waiting_rooms/:slug": async (clinic) => ({
    path: await aRoom(clinic),
    body: { waiting_room: { name: `Renamed ${unique()}`, is_active: false } },
  }),
  "DELETE /waiting_rooms/:slug": async (clinic) => ({ path: await aRoom(clinic) }),
  "GET /waiting_rooms/:waiting_room_slug/waiting_room_subs": async (clinic) => {
    const path = `/waiting_rooms/${clinic.slug}-seeded-9/waiting_room_subs`;
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
  "GET /roles": () => ({ path: "/roles" }),
  "GET /invites": () => ({ path: "/invites" }),
  "POST /invites": () => ({ path: "/invites", body: { organization_invite: anInvite() } }),
  "GET /invites/:id": async (clinic) => ({ path: await inviteOf(clinic) }),
  "DELETE /invites/:id": async (clinic) => ({ path: await newInvite(clinic) }),
};

/** A route that nobody measures would go unseen. */
export function requireEveryOperation() {
  const base = "/api/external";
  const routes = app.routes
    .filter(({ method, path }) => method !== "ALL" && path.startsWith(`${base}/`))
    .map(({ method, path }) => `${method} ${path.slice(base.length)}`);
  const missing = routes.filter((route) => !(route in operations));
  if (missing.length > 0) throw new Error(`test/bench/operations.ts lacks ${missing.join(", ")}`);
}

async function aRoom({ client }: Clinic) {
  const { slug } = await client("POST", "/waiting_rooms", { waiting_room: { name: `Room ${unique()}` } });
  return `/waiting_rooms/${slug}`;
}

/** One that begins so many days from now, and lasts a day. */
const aSub = ({ provider }: Clinic, days: number) => ({
  user_id: provider.user_id,
  datetime_start: DAYS_AGO(-days),
});

async function aRoomsSub(clinic: Clinic) {
  const path = `${await aRoom(clinic)}/waiting_room_subs`;
  const sub = await clinic.client("POST", path, { waiting_room_sub: aSub(clinic, 1) });
  return `${path}/${sub.id}`;
}

const anInvite = () => ({
  email: `${unique()}@example.com`,
  display_name: "Ivy Invitee",
  role_names: ["provider"],
});

async function newInvite({ client }: Clinic): Promise<string> {
  return `/invites/${(await client("POST", "/invites", { organization_invite: anInvite() })).id}`;
}

const inviteOf = once(newInvite);

const tokenOf = once(({ signIn }) => signIn());

const bulkInviteOf = once(async ({ client }) => {
  const rows = { organization_invites: Array.from({ length: 10 }, anInvite) };
  const { bulk_invite } = await client("POST", "/invites/bulk_create", rows);
  return `/bulk_invites/${bulk_invite.id}`;
});

/** For what reads leave as it is. */
function once<Result>(make: (clinic: Clinic) => Promise<Result>) {
  const made = new WeakMap<Clinic, Promise<Result>>();
  return (clinic: Clinic) => {
    const result = made.get(clinic) ?? make(clinic);
    made.set(clinic, result);
    return result;
  };
}
