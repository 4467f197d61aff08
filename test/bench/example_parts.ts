/** What the examples of both doors are made of. */
import { type Clinic, unique } from "./clinic.ts";

export interface Sent {
  path: string;
  body?: object;
}

/** What to send for an operation. Called for each request anew, as a write may use up what it is about. */
export type Example = (clinic: Clinic) => Sent | Promise<Sent>;

/** The path of a new room. */
export async function aRoom({ client }: Clinic): Promise<string> {
  const { slug } = await client("POST", "/waiting_rooms", { waiting_room: { name: `Room ${unique()}` } });
  return `/waiting_rooms/${slug}`;
}

export const anInvite = () => ({
  email: `${unique()}@example.com`,
  display_name: `Ivy ${unique()}`,
  role_names: ["provider"],
});

/** The path of a new invite. */
export async function newInvite({ client }: Clinic): Promise<string> {
  return `/invites/${(await client("POST", "/invites", { organization_invite: anInvite() })).id}`;
}

/** For what reads do not change: made once for each clinic. */
export function once<Result>(make: (clinic: Clinic) => Promise<Result>) {
  const results = new WeakMap<Clinic, Promise<Result>>();
  return (clinic: Clinic) => {
    const result = results.get(clinic) ?? make(clinic);
    results.set(clinic, result);
    return result;
  };
}

/** An identity provider's token. */
export const tokenOf = once(({ signIn }) => signIn());
