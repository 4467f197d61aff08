import { platform } from "./api.ts";
import { given, type Organization } from "./organization.ts";

export interface ParticipantEvent {
  type: string;
  data: { waiting_room_id: number; participant_id: number };
}

/** The participant events that `work` causes. */
export async function toldOf(
  { client }: Organization,
  work: () => Promise<unknown>,
): Promise<ParticipantEvent[]> {
  const all = async () => (await given(client.get("/events?type=participant.*&per_page=100"))).events;
  const before = (await all()).length;
  await work();
  return (await all()).slice(before).map(({ type, data }: ParticipantEvent) => ({ type, data }));
}

export const kinds = (events: ParticipantEvent[]) =>
  events.map(({ type }) => type.replace("participant.", ""));

export const reportInRoom = (slug: string, key: string, participant: object) =>
  platform.put(`/waiting_rooms/${slug}/participants/${key}`, { participant });
