import {
  DisconnectReason,
  EgressInfo,
  EgressStatus,
  FileInfo,
  ParticipantInfo,
  Room,
  WebhookEvent,
} from "@livekit/protocol";
import { AccessToken } from "livekit-server-sdk";
import { type Answer, api, type Fetcher } from "./api.ts";
import { given, type Organization, unique } from "./organization.ts";

export { DisconnectReason, EgressStatus };

/** Must match vitest.config.ts. */
export const LIVEKIT_KEY = { key: "test-livekit-key", secret: "test-livekit-secret-of-32-characters" };

type EventFields = NonNullable<ConstructorParameters<typeof WebhookEvent>[0]>;
type ParticipantFields = ConstructorParameters<typeof ParticipantInfo>[0];

/** An event as LiveKit's server writes it. */
export const anEvent = (event: string, fields: EventFields = {}): string =>
  new WebhookEvent({ event, id: unique("EV").replaceAll("-", "_"), ...fields }).toJsonString();

export async function digestOf(body: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}

/** The Authorization header, made by LiveKit's own package. */
export async function signatureOf(body: string, { key, secret } = LIVEKIT_KEY, ttl = 300): Promise<string> {
  const token = new AccessToken(key, secret, { ttl });
  token.sha256 = await digestOf(body);
  return token.toJwt();
}

const WEBHOOK = { "Content-Type": "application/webhook+json" };

export function aLiveKitServer({
  key = LIVEKIT_KEY,
  fetcher,
}: {
  key?: typeof LIVEKIT_KEY;
  fetcher?: Fetcher;
} = {}) {
  return {
    async send(event: string, headers: Record<string, string> = {}): Promise<Answer> {
      const credentials = { Authorization: await signatureOf(event, key) };
      return api("/api/livekit", credentials, fetcher).send("POST", "/webhook", event, {
        ...WEBHOOK,
        ...headers,
      });
    },
  };
}

export const liveKit = aLiveKitServer();

/** Sends events, and expects answers that LiveKit's server counts as delivered. */
export async function delivered(events: string[], server = liveKit) {
  for (const event of events) {
    const { status, body } = await server.send(event);
    if (status !== 200 || JSON.stringify(body) !== "{}")
      throw new Error(`${event} answered ${status} ${JSON.stringify(body)}`);
  }
}

/** The start of a visit in a LiveKit room. */
export const VISIT_AT = Date.parse("2026-01-31T09:30:00.000Z");

export const at = (seconds: number) => new Date(VISIT_AT + seconds * 1000).toISOString();

export const inSeconds = (seconds: number) => BigInt(Math.floor(VISIT_AT / 1000 + seconds));

/**
 * A LiveKit room, whose metadata names the waiting room and the owner of the call, and the events that it sends. Times are
 * in seconds from its start.
 */
export async function aLiveKitRoom(
  organization: Organization,
  fields: ConstructorParameters<typeof Room>[0] = {},
) {
  const [waitingRoom, owner] = [await organization.addRoom(), await organization.addProvider()];
  const { sid = unique("RM").replaceAll("-", "_") } = fields;
  const room = new Room({
    sid,
    name: `${organization.slug}--${unique("visit")}`,
    creationTime: inSeconds(0),
    metadata: JSON.stringify({ waiting_room_slug: waitingRoom.slug, organization_user_id: owner.id }),
    ...fields,
  });
  const event = (name: string, seconds: number, more: EventFields = {}) =>
    anEvent(name, { createdAt: inSeconds(seconds), room, ...more });
  const participant = (identity: string, joinedAt: number, said: ParticipantFields) =>
    new ParticipantInfo({
      sid: `PA_${identity}_${joinedAt}`.replaceAll("-", "_"),
      identity,
      joinedAt: inSeconds(joinedAt),
      joinedAtMs: BigInt(VISIT_AT + joinedAt * 1000),
      ...said,
    });
  return {
    sid,
    name: room.name,
    /** The path, in the platform API, of the call that the room's own events create. */
    url: `/organizations/${organization.id}/calls/${sid}`,
    waitingRoom,
    owner,
    event,
    started: () => event("room_started", 0),
    finished: (seconds: number) => event("room_finished", seconds),
    joined: (identity: string, seconds: number, said: ParticipantFields = {}) =>
      event("participant_joined", seconds, { participant: participant(identity, seconds, said) }),
    left: (identity: string, seconds: number, joinedAt: number, said: ParticipantFields = {}) =>
      event("participant_left", seconds, { participant: participant(identity, joinedAt, said) }),
    /** An egress event: it has no room, but names it. */
    egress: (
      egressId: string,
      status: EgressStatus,
      more: ConstructorParameters<typeof EgressInfo>[0] = {},
    ) =>
      anEvent(EGRESS_EVENTS[status] ?? "egress_ended", {
        createdAt: inSeconds(0),
        egressInfo: new EgressInfo({ egressId, roomId: sid, roomName: room.name, status, ...more }),
      }),
    /** The last event of an egress with a file. */
    recorded: (egressId: string, seconds: number, filename = `${organization.slug}/${egressId}.mp4`) =>
      anEvent("egress_ended", {
        createdAt: inSeconds(seconds),
        egressInfo: new EgressInfo({
          egressId,
          roomId: sid,
          roomName: room.name,
          status: EgressStatus.EGRESS_COMPLETE,
          startedAt: BigInt(VISIT_AT) * 1_000_000n,
          endedAt: BigInt(VISIT_AT + seconds * 1000) * 1_000_000n,
          fileResults: [new FileInfo({ filename, location: `https://bucket.test/${filename}`, size: 1n })],
        }),
      }),
  };
}

const EGRESS_EVENTS: Partial<Record<EgressStatus, string>> = {
  [EgressStatus.EGRESS_STARTING]: "egress_started",
  [EgressStatus.EGRESS_ACTIVE]: "egress_updated",
  [EgressStatus.EGRESS_ENDING]: "egress_updated",
};

/** An egress id in LiveKit's format. */
export const anEgressId = () => unique("EG").replaceAll("-", "_");

/** The owner's calls, each with its participants and the number of its recordings. */
export async function shownCalls(
  { client }: Organization,
  { owner }: Awaited<ReturnType<typeof aLiveKitRoom>>,
) {
  const path = `/organization_users/${owner.id}/calls`;
  const { calls } = await given(client.get(path));
  return Promise.all(
    calls.map(async ({ id, ...call }: { id: number }) => {
      const { participants } = await given(client.get(`${path}/${id}/participants`));
      const { egresses } = await given(client.get(`${path}/${id}/egresses`));
      return { id, ...call, participants, recordings: egresses.length };
    }),
  );
}
