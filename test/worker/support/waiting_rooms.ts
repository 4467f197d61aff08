import { platform } from "./api.ts";
import { anOrganization, given, type Organization } from "./organization.ts";
import { fromNow } from "./time.ts";

export const create = ({ client }: Organization, waiting_room: object) =>
  client.post("/waiting_rooms", { waiting_room });

export const read = ({ client }: Organization, slug: string) => client.get(`/waiting_rooms/${slug}`);

export const update = ({ client }: Organization, slug: string, waiting_room: object) =>
  client.put(`/waiting_rooms/${slug}`, { waiting_room });

export const retire = ({ client }: Organization, slug: string) => client.delete(`/waiting_rooms/${slug}`);

export const leave = (slug: string, participant: string) =>
  given(
    platform.put(`/waiting_rooms/${slug}/participants/${participant}`, {
      participant: { left_at: fromNow(-1) },
    }),
  );

export async function listed({ client }: Organization) {
  return (await given(client.get("/waiting_rooms"))).waiting_rooms;
}

export async function aClinicWithRoom(room: object = {}) {
  const clinic = await anOrganization();
  return { clinic, room: await clinic.addRoom(room) };
}
