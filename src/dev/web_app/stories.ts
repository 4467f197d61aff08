/** The requests that the video platform sends when someone waits, joins a call and leaves, and for the results of the call. */
import { randomUUID } from "node:crypto";
import { storeFile } from "../../results/egresses/egresses.files.ts";
import type { Settings } from "../../settings.ts";
import { platformAt } from "../demo_platform.ts";
import { demoRecording, RECORDING_SECONDS, SOAP_NOTE, transcriptOf } from "../demo_results.ts";

/** Where the service is, and its settings, which have the tokens of the programs that this one plays. */
export interface Service {
  address: string;
  settings: Settings;
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

interface Call {
  key: string;
  started_at: string;
  present: Set<string>;
  /** Whether each of the participants, in the order in which they joined, consents to be recorded. */
  consents: Map<string, boolean>;
}

const MAX_SHOWN_REQUESTS = 12;

export function openStories({ address, settings }: Service) {
  /** The requests of each person, for the page. No page shows a token, or what a link holds. */
  const requests = new Map<string, string[]>();
  const states = new Map<string, string>();
  /** The ongoing call of each room. */
  const calls = new Map<string, Call>();

  const reporter = (program: string, token: string | undefined) => {
    const send = platformAt(address, token);
    return async (key: string, path: string, body: object) => {
      await send("PUT", path, body);
      const shown = `${program}: PUT /api/platform${path} ${JSON.stringify(body)}`;
      requests.set(key, [...(requests.get(key) ?? []), shown].slice(-MAX_SHOWN_REQUESTS));
    };
  };
  const webApp = reporter("Web app", settings.PLATFORM_WEB_APP_TOKEN);
  const mediaServer = reporter("Media server", settings.PLATFORM_REPORTS_TOKEN);
  const recorder = reporter("Recorder", settings.PLATFORM_REPORTS_TOKEN);
  const transcription = reporter("Transcription", settings.PLATFORM_REPORTS_TOKEN);
  const ask = platformAt(address, settings.PLATFORM_WEB_APP_TOKEN);

  /** The recording is stored only if everyone consented. */
  async function reportResults(key: string, organization: string, call: Call, storage_key: string) {
    const path = `${organization}/calls/${call.key}`;
    const [first = key, second = first] = call.consents.keys();
    await transcription(key, `${path}/transcript`, { transcript: transcriptOf([first, second]) });
    await transcription(key, `${path}/soap_note`, { soap_note: SOAP_NOTE });
    if ([...call.consents.values()].includes(false)) return;
    const file = await demoRecording();
    await storeFile(settings, address, storage_key, file);
    const about = {
      storage_key,
      size: file.byteLength,
      duration: RECORDING_SECONDS,
      started_at: call.started_at,
    };
    const egress = { call_key: call.key, status: "egress_ended", is_stopped: true, ...about };
    await recorder(key, `${organization}/egresses/${call.key}`, { egress });
  }

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

    /** @param consents whether the person consents to be recorded */
    async act(act: (typeof ACTS)[number], visitor: Visitor, consents: boolean): Promise<void> {
      const { person, organization_id, room, holder } = visitor;
      const now = new Date().toISOString();
      const { key, ...who } = person;
      const ownPath = `/waiting_rooms/${room}/participants/${encodeURIComponent(key)}`;
      const reportStay = (participant: object) => webApp(key, ownPath, { participant });
      const known = calls.get(room);
      const name = `web-app-${randomUUID()}`;
      const call = known ?? { key: name, started_at: now, present: new Set(), consents: new Map() };
      const organization = `/organizations/${organization_id}`;
      const report = (fields: object) =>
        mediaServer(key, `${organization}/calls/${call.key}`, { call: fields });
      if (act === "wait") {
        await reportStay({ ...who, waiting_since: now });
        states.set(key, "waiting");
      } else if (act === "join") {
        const organization_user_id = holder ?? person.user_id;
        if (!known && organization_user_id === null)
          throw new Error("Say which user holds the call, or let a provider join first.");
        const first = known ? {} : { waiting_room_slug: room, organization_user_id, started_at: now };
        const recording = { recording_consent: consents, recording_consent_at: now };
        await report({ ...first, participants: [{ key, ...who, joined_at: now, ...recording }] });
        calls.set(room, call);
        call.present.add(key);
        call.consents.set(key, consents);
        states.set(key, "on the call");
      } else {
        const isLast = call.present.size === 1;
        if (call.present.has(key)) {
          // The last person to leave ends the call.
          await report({ ...(isLast && { ended_at: now }), participants: [{ key, left_at: now }] });
          call.present.delete(key);
        } else await reportStay({ left_at: now });
        states.set(key, "gone");
        if (call.present.size > 0 || !calls.delete(room)) return;
        await reportResults(key, organization, call, `${room.split("--")[0]}/${call.key}.wav`);
      }
    },
  };
}
