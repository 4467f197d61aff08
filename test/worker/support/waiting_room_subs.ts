import { anOrganization, type Organization } from "./organization.ts";
import { fromNow } from "./time.ts";

/** In minutes. */
export const DAY = 24 * 60;

export const at = (time: string) => `2100-06-01T${time}Z`;

export const between = (start: string, end: string) => ({ datetime_start: at(start), datetime_end: at(end) });

export const FROM_TEN_TO_ELEVEN = between("10:00:00.000", "11:00:00.000");

/** The requests about the subs of a room. */
export function subsOf({ client }: Pick<Organization, "client">, slug: string, user_id: number) {
  const path = `/waiting_rooms/${slug}/waiting_room_subs`;
  return {
    path,
    listed: async () => (await client.get(path)).body.waiting_room_subs,
    /** Starts tomorrow by default. */
    create: (sub: object = {}) =>
      client.post(path, { waiting_room_sub: { user_id, datetime_start: fromNow(DAY), ...sub } }),
    update: (id: number, waiting_room_sub: object) => client.put(`${path}/${id}`, { waiting_room_sub }),
    remove: (id: number) => client.delete(`${path}/${id}`),
  };
}

/** A clinic's room, a provider who can stand in, and the requests about the room's subs. */
export async function aRoomWithSubstitute() {
  const clinic = await anOrganization();
  const room = await clinic.addRoom();
  const substitute = await clinic.addProvider("Sam Substitute");
  return { clinic, room, substitute, ...subsOf(clinic, room.slug, substitute.user_id) };
}

/** A room with a substitute, who has a sub from ten to eleven. */
export async function aRoomWithSub() {
  const scene = await aRoomWithSubstitute();
  return { ...scene, sub: (await scene.create(FROM_TEN_TO_ELEVEN)).body };
}
