import { app } from "../../../src/app.ts";
import { type Organization, unique } from "./organization.ts";

/** A request that succeeds for the organization whose things it names. */
export interface Example {
  path: string;
  body?: object;
}

/**
 * For each route of the external door, by method and pattern, an example made of the organization's own things.
 * The checks that go over all routes fail for a route that is missing here.
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
};

/** The same for the platform door, which is open to every organization. */
export const platformExamples: Record<string, (organization: Organization) => Promise<Example>> = {
  "POST /organizations": async () => ({
    path: "/organizations",
    body: { organization: { name: "New Clinic" } },
  }),
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
};

/** Method and pattern of each route that the app serves behind a door. */
export function routesBehind(base: string): string[] {
  const routes = app.routes
    .filter(({ method, path }) => method !== "ALL" && path.startsWith(`${base}/`))
    .map(({ method, path }) => `${method} ${path.slice(base.length)}`);
  return [...new Set(routes)].sort();
}

async function aRoom(organization: Organization) {
  return `/waiting_rooms/${(await organization.addRoom()).slug}`;
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
