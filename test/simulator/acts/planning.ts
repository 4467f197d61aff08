import type { Clinic } from "../clinic.ts";
import { type Act, pick } from "./act.ts";

const room = (clinic: Clinic, more: object = {}) => ({
  waiting_room: { name: clinic.unique("Room"), is_active: true, ...more },
});

/** Sends a POST, and remembers that no two rows may have this name. */
async function make(clinic: Clinic, path: string, name: string, body: object) {
  clinic.made.set(name, false);
  const outcome = await clinic.client("POST", path, body, true);
  if (outcome?.status === 201) clinic.made.set(name, true);
  return outcome;
}

/** The acts by which an organization plans its visits, and sets itself up. */
export const planningActs: Record<string, Act> = {
  async "creates a room"(clinic) {
    const body = room(clinic);
    const outcome = await make(clinic, "/waiting_rooms", body.waiting_room.name, body);
    if (outcome?.status === 201) clinic.rooms.push(outcome.body.slug);
  },
  async "changes a room"(clinic) {
    const slug = pick(clinic, clinic.rooms);
    if (slug)
      await clinic.client("PUT", `/waiting_rooms/${slug}`, {
        waiting_room: { is_active: clinic.world.chance.is(0.8) },
      });
  },
  async "retires a room"(clinic) {
    if (clinic.rooms.length > 3) await clinic.client("DELETE", `/waiting_rooms/${clinic.rooms.shift()}`);
  },
  async "adds a sub"(clinic) {
    const { chance } = clinic.world;
    const provider = chance.pick(clinic.providers);
    const slug = pick(clinic, [...clinic.rooms, ...clinic.providers.map((each) => each.waiting_room_slug)]);
    const begin = chance.below(4);
    const waiting_room_sub = {
      user_id: provider.user_id,
      datetime_start: `2027-01-01T${10 + begin}:00:00Z`,
      datetime_end: `2027-01-01T${11 + begin + chance.below(2)}:00:00Z`,
    };
    const path = `/waiting_rooms/${slug}/waiting_room_subs`;
    const outcome = await clinic.client("POST", path, { waiting_room_sub }, true);
    if (outcome?.status === 201) clinic.subs.push({ slug: slug ?? "", id: outcome.body.id });
  },
  async "moves or deletes a sub"(clinic) {
    const { chance } = clinic.world;
    const sub = pick(clinic, clinic.subs);
    if (!sub) return;
    const path = `/waiting_rooms/${sub.slug}/waiting_room_subs/${sub.id}`;
    const datetime_end = `2027-01-01T${20 + chance.below(4)}:30:00Z`;
    if (chance.is(0.7)) await clinic.client("PUT", path, { waiting_room_sub: { datetime_end } });
    else await clinic.client("DELETE", path);
  },
  async "plans a visit"(clinic) {
    const patient = pick(clinic, clinic.patients, ({ isLeaving }) => !isLeaving);
    const slug = pick(clinic, clinic.rooms);
    if (!patient || !slug) return;
    const { display_name, external_reference } = patient;
    const name = clinic.unique("visit").replaceAll(" ", "-");
    const visit = {
      waiting_room_slug: slug,
      starts_at: clinic.ahead(60 + clinic.world.chance.below(600)),
      external_reference: name,
      participants: [{ role: "recipient", display_name, external_reference }],
    };
    const outcome = await clinic.naming(patient, () => make(clinic, "/visits", name, { visit }));
    if (outcome?.status === 201) clinic.visits.push({ id: outcome.body.id, patient });
  },
  async "cancels or moves a visit"(clinic) {
    const visit = pick(clinic, clinic.visits);
    if (!visit) return;
    if (clinic.world.chance.is(0.3)) await clinic.client("DELETE", `/visits/${visit.id}`);
    else await clinic.client("PUT", `/visits/${visit.id}`, { visit: { starts_at: clinic.ahead(120) } });
  },
  async "invites somebody"(clinic) {
    const email = `${clinic.unique("ivy").replaceAll(" ", "-")}@example.com`;
    const organization_invite = { email, display_name: clinic.unique("Ivy"), role_names: ["provider"] };
    const outcome = await make(clinic, "/invites", email, { organization_invite });
    if (outcome?.status === 201) clinic.invites.push(outcome.body.id);
  },
  async "invites many"(clinic) {
    const organization_invites = Array.from({ length: 3 }, () => {
      const email = `${clinic.unique("bea").replaceAll(" ", "-")}@example.com`;
      clinic.made.set(email, false);
      return { email, display_name: clinic.unique("Bea"), role_names: ["provider"] };
    });
    const outcome = await clinic.client("POST", "/invites/bulk_create", { organization_invites }, true);
    if (outcome?.status === 201) for (const { email } of organization_invites) clinic.made.set(email, true);
  },
  async "takes an invite back"(clinic) {
    const id = clinic.invites.shift();
    if (id) await clinic.client("DELETE", `/invites/${id}`);
  },
  async "adds a webhook endpoint"(clinic) {
    if (clinic.endpoints.length > 2) return;
    const endpoint = {
      id: 0,
      url: `https://${clinic.unique("hooks").replaceAll(" ", "-").toLowerCase()}.example.com/`,
      received: [] as number[],
    };
    clinic.world.receivers.set(endpoint.url, ({ id, test }) => {
      if (!test) endpoint.received.push(Number(id));
      if (clinic.suspension === "holds")
        clinic.world.violation("A suspended organization was sent a webhook");
      return new Response(null, { status: clinic.world.chance.is(clinic.world.odds.faults) ? 500 : 204 });
    });
    const outcome = await clinic.client("POST", "/webhook_endpoints", {
      webhook_endpoint: { url: endpoint.url },
    });
    if (outcome?.status === 201) clinic.endpoints.push({ ...endpoint, id: outcome.body.id });
  },
  async "switches an endpoint"(clinic) {
    const endpoint = pick(clinic, clinic.endpoints);
    if (!endpoint) return;
    for (const is_active of [false, true])
      await clinic.client("PUT", `/webhook_endpoints/${endpoint.id}`, { webhook_endpoint: { is_active } });
  },
};
