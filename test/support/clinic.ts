/** The types of example requests, and functions that make them. They work wherever the service runs. */
import { DAY } from "../../src/units.ts";

/**
 * Sends a request to one API, and returns the body of the response.
 *
 * @throws Error if it is refused
 */
// biome-ignore lint/suspicious/noExplicitAny: an example knows what it asked for
export type Send = (method: string, path: string, body?: object) => Promise<any>;

/** An organization, with a client that acts as its administrator. */
export interface Clinic {
  id: number;
  slug: string;
  admin: { id: number };
  client: Send;
  platform: Send;
  /** A token of the administrator, from an identity provider of the organization. */
  signIn(): Promise<string>;
  letAge(invite: { id: number }): Promise<void>;
  /** The URL of a receiver of webhooks that accepts everything. */
  aReceiver(): string;
  aSealedDay(): Promise<string>;
}

/** A request that succeeds for the organization that owns the things it names. */
export interface Example {
  path: string;
  body?: object;
  /** The status for another organization if the path contains no id; success by default. */
  statusForOthers?: number;
}

/** Makes an example, with new things each time, because a write may use them up. */
export type MakeExample = (clinic: Clinic) => Promise<Example>;

/** A body, or null for a request without one. */
type Body = object | null | ((clinic: Clinic) => object | Promise<object>);

/**
 * Examples for the routes that begin with a pattern. `make` returns the beginning of their path. `bodies` has their methods, each with
 * the rest of the route.
 */
export const below = (
  pattern: string,
  make: (clinic: Clinic) => string | Promise<string>,
  bodies: Record<string, Body>,
): Record<string, MakeExample> =>
  Object.fromEntries(
    Object.entries(bodies).map(([route, body]) => {
      const [method, rest = ""] = route.split(" ");
      const example: MakeExample = async (clinic) => {
        const path = `${await make(clinic)}${rest}`;
        return body === null
          ? { path }
          : { path, body: typeof body === "function" ? await body(clinic) : body };
      };
      return [`${method} ${pattern}${rest}`, example];
    }),
  );

let made = 0;

export const unique = (word: string) => `${word}-${++made}-${crypto.randomUUID().slice(0, 6)}`;

export const aUser = () => ({
  email: `${unique("user")}@example.com`,
  display_name: "Paula Provider",
  roles: ["provider"],
});

/** A new user of the organization, who has a personal room. */
export const aProvider = ({ id, platform }: Clinic) =>
  platform("POST", `/organizations/${id}/users`, { user: aUser() });

/** The path of a new room. */
export async function aRoom({ client }: Clinic): Promise<string> {
  const waiting_room = { name: "Cardiology", is_active: true };
  return `/waiting_rooms/${(await client("POST", "/waiting_rooms", { waiting_room })).slug}`;
}

/** The body of a visit that is planned in a new room, for a future time. */
export const aPlan = async (clinic: Clinic) => ({
  visit: {
    waiting_room_slug: (await aRoom(clinic)).replace("/waiting_rooms/", ""),
    starts_at: new Date(Date.now() + 60 * DAY).toISOString(),
    participants: [{ role: "recipient", display_name: "Rita Recipient" }],
  },
});

/** A planned visit: its path, and the token of its link. */
export async function aVisit(clinic: Clinic) {
  const { id, participants } = await clinic.client("POST", "/visits", await aPlan(clinic));
  const token = new URL(participants[0].join_url).searchParams.get("visit");
  return { path: `/visits/${id}`, token };
}

export const anInvite = (more: object = {}) => ({
  email: `${unique("invitee")}@example.com`,
  display_name: "Ivy Invitee",
  role_names: ["provider"],
  ...more,
});

export const aPendingInvite = ({ client }: Clinic): Promise<{ id: number }> =>
  client("POST", "/invites", { organization_invite: anInvite() });

export const AGE_INVITE = "update invites set created_at = created_at - 300000 where id = ?";
