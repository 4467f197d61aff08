/** The requests that the web app and the media server send when someone waits, joins a call and leaves. */
import { randomUUID } from "node:crypto";
import { platformAt } from "../demo_platform.ts";

/** Where the service is, and the tokens of the two programs that this one plays. */
export interface Service {
  address: string;
  webAppToken: string | undefined;
  reportsToken: string | undefined;
}

/** The person who opened a page, under the key with which they are reported. */
export interface Person {
  key: string;
  display_name: string;
  role: "recipient" | "provider";
  user_id: number | null;
}

export interface Visitor {
  person: Person;
  organization_id: number;
  /** The room where the person is sent now: during a substitution, that of the substitute. */
  room: string;
  /** The provider whose personal room it is, who holds its calls. */
  holder: number | null;
  visit: { id: number; status: string; starts_at: string; ends_at: string } | null;
}

export const ACTS = ["wait", "join", "leave"] as const;

const MAX_SHOWN_REQUESTS = 12;

export function openStories({ address, webAppToken, reportsToken }: Service) {
  /** The requests of each person, for the page. No page shows a token, or what a link holds. */
  const requests = new Map<string, string[]>();
  const states = new Map<string, string>();
  /** The ongoing call of each room. */
  const calls = new Map<string, { key: string; present: Set<string> }>();

  const reporter = (program: string, token: string | undefined) => {
    const send = platformAt(address, token);
    return async (key: string, path: string, body: object) => {
      await send("PUT", path, body);
      const shown = `${program}: PUT /api/platform${path} ${JSON.stringify(body)}`;
      requests.set(key, [...(requests.get(key) ?? []), shown].slice(-MAX_SHOWN_REQUESTS));
    };
  };
  const webApp = reporter("Web app", webAppToken);
  const mediaServer = reporter("Media server", reportsToken);
  const ask = platformAt(address, webAppToken);

  return {
    redeemCode: (code: string) => ask("POST", "/authorization_codes/redeem", { code }),
    acceptInvite: (token: string) => ask("POST", "/invites/accept", { token }),
    requestsOf: ({ person }: Visitor): string[] => requests.get(person.key) ?? [],
    stateOf: ({ person }: Visitor): string => states.get(person.key) ?? "not here yet",

    /** @param link the token of a planned visit's link, which says who was invited; without one, `known` came */
    async visitorAt(slug: string, link: string | null, known: Person): Promise<Visitor> {
      const redeemed = link ? await ask("POST", "/visits/redeem", { token: link }) : null;
      const asked = await ask("GET", `/waiting_rooms/${redeemed?.waiting_room_slug ?? slug}`);
      const room: string = asked.destination_slug;
      const sent = room === asked.waiting_room.slug ? asked : await ask("GET", `/waiting_rooms/${room}`);
      return {
        person: redeemed?.participant ?? known,
        organization_id: asked.organization_id,
        room,
        holder: sent.waiting_room.user_id,
        visit: redeemed?.visit ?? null,
      };
    },

    async act(act: (typeof ACTS)[number], { person, organization_id, room, holder }: Visitor): Promise<void> {
      const now = new Date().toISOString();
      const { key, ...who } = person;
      const ownPath = `/waiting_rooms/${room}/participants/${encodeURIComponent(key)}`;
      const reportStay = (participant: object) => webApp(key, ownPath, { participant });
      const known = calls.get(room);
      const call = known ?? { key: `web-app-${randomUUID()}`, present: new Set() };
      const report = (fields: object) =>
        mediaServer(key, `/organizations/${organization_id}/calls/${call.key}`, { call: fields });
      if (act === "wait") {
        await reportStay({ ...who, waiting_since: now });
        states.set(key, "waiting");
      } else if (act === "join") {
        const organization_user_id = holder ?? person.user_id;
        if (!known && organization_user_id === null)
          throw new Error("Say which user holds the call, or let a provider join first.");
        const first = known ? {} : { waiting_room_slug: room, organization_user_id, started_at: now };
        await report({ ...first, participants: [{ key, ...who, joined_at: now }] });
        calls.set(room, call);
        call.present.add(key);
        states.set(key, "on the call");
      } else {
        if (call.present.has(key)) {
          // The last person to leave ends the call.
          const end = call.present.size === 1 ? { ended_at: now } : {};
          await report({ ...end, participants: [{ key, left_at: now }] });
          call.present.delete(key);
          if (call.present.size === 0) calls.delete(room);
        } else await reportStay({ left_at: now });
        states.set(key, "gone");
      }
    },
  };
}
