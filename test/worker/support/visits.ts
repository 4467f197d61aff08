import { env } from "cloudflare:workers";
import { platform } from "./api.ts";
import { given, type Organization } from "./organization.ts";
import { timeAhead } from "./time.ts";

export interface Visit {
  id: number;
  status: string;
  call_ids: number[];
  updated_at: string;
  participants: { id: number; display_name: string; join_url: string }[];
}

/** The fields of a new visit for Rita, far ahead. */
export const aPlan = (waiting_room_slug: string, more: object = {}) => ({
  waiting_room_slug,
  starts_at: timeAhead(),
  participants: [{ role: "recipient", display_name: "Rita Recipient" }],
  ...more,
});

export const planVisit = (
  { client }: Pick<Organization, "client">,
  slug: string,
  more: object = {},
): Promise<Visit> => given(client.post("/visits", { visit: aPlan(slug, more) }));

export const readVisit = ({ client }: Pick<Organization, "client">, { id }: { id: number }): Promise<Visit> =>
  given(client.get(`/visits/${id}`));

/** The key under which a participant of a visit is reported. */
export const keyOf = ({ id, participants }: Visit, n = 0) => `visit-${id}-${participants[n]?.id}`;

export const tokenOfLink = ({ participants }: Visit, n = 0) =>
  new URL(participants[n]?.join_url ?? "").searchParams.get("visit") ?? "";

export const redeem = (token: string) => platform.post("/visits/redeem", { token });

/** Moves a visit into the past. */
export const letPass = ({ id }: { id: number }) =>
  env.DB.prepare("update visits set starts_at = 0, ends_at = 1 where id = ?").bind(id).run();
