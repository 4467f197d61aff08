import type { Client } from "../../dist/client/external/index.js";
import { uploadFile, webhookHeaders } from "./livekit_server.ts";
import { demoRecording } from "./recording.ts";

type Headers = Record<string, string>;

interface Demo {
  server: string;
  /** What .dev.vars holds. */
  settings: Record<string, string | undefined>;
  /** The organization's client. */
  clinic: Client;
  provider: { id: number; user_id: number };
  waiting_room_slug: string;
  organization_slug: string;
  /** Unique for each run. */
  prefix: string;
  say(text: string): void;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server answers
  show(headers: Headers, method: string, path: string, body?: object): Promise<any>;
}

/**
 * A visit that only LiveKit reports, from the opening of its room to the download of its recording.
 *
 * @returns the recording as the organization reads it, with LiveKit's own id
 */
export async function demoLiveKit(demo: Demo) {
  const { server, settings, clinic, provider, waiting_room_slug, organization_slug, prefix, say, show } =
    demo;
  const { LIVEKIT_API_KEY, LIVEKIT_API_SECRET } = settings;
  if (!LIVEKIT_API_KEY || !LIVEKIT_API_SECRET) {
    say("Left out: .dev.vars has no LIVEKIT_API_KEY. Delete that file, and `npm run dev` makes it anew.");
    return undefined;
  }
  const seconds = (ago: number) => String(Math.floor(Date.now() / 1000) - ago);
  const room = {
    sid: `RM_${prefix}`,
    name: `${organization_slug}--visit-${prefix}`,
    creationTime: seconds(60),
    metadata: JSON.stringify({ waiting_room_slug, organization_user_id: provider.id }),
  };
  const egress = { egressId: `EG_${prefix}`, roomId: room.sid, roomName: room.name };
  const filename = `${organization_slug}/visit-${prefix}.wav`;
  let sent = 0;

  async function send(event: string, ago: number, more: object) {
    const body = { event, id: `EV_${prefix}${++sent}`, createdAt: seconds(ago), ...more };
    const headers = await webhookHeaders(
      LIVEKIT_API_KEY ?? "",
      LIVEKIT_API_SECRET ?? "",
      JSON.stringify(body),
    );
    await show(headers, "POST", "/api/livekit/webhook", body);
  }

  say("The room's name begins with the organization's slug. Its metadata says whose visit it is.");
  say("LiveKit signs every event.");
  await send("room_started", 60, { room });
  say("The attributes of the participants say who they are, and whether they consent to the recording.");
  await send("participant_joined", 55, {
    room,
    participant: {
      sid: `PA_${prefix}1`,
      identity: `${prefix}-paul`,
      name: "Dr. Paul Provider",
      joinedAt: seconds(55),
      attributes: { role: "provider", user_id: String(provider.user_id), recording_consent: "true" },
    },
  });
  await send("participant_joined", 50, {
    room,
    participant: {
      sid: `PA_${prefix}2`,
      identity: `${prefix}-rita`,
      name: "Rita Recipient",
      joinedAt: seconds(50),
      attributes: { recording_consent: "true" },
    },
  });
  await send("egress_started", 45, { egressInfo: egress });
  await send("room_finished", 5, { room });
  say("The recorder puts the file into the bucket. Its name leads the service to it.");
  await uploadFile(server, settings, filename, demoRecording());
  await send("egress_ended", 1, {
    egressInfo: {
      ...egress,
      status: "EGRESS_COMPLETE",
      endedAt: `${seconds(5)}000000000`,
      fileResults: [{ filename, location: `https://storage.example.com/${filename}` }],
    },
  });

  say("The organization finds the call and its recording as if the platform had reported them.");
  const of = { organization_user_id: provider.id };
  const [call] = (await clinic.listCalls({ ...of, per_page: 1 })).calls;
  const ofCall = { ...of, call_id: call?.id ?? 0 };
  const [newest] = (await clinic.listEgresses(ofCall)).egresses;
  const recording = { ...ofCall, id: newest?.id ?? 0 };
  const { url } = await clinic.getEgress(recording);
  const file = await fetch(url ?? "");
  say(`  GET the url → ${file.status}, ${(await file.arrayBuffer()).byteLength} bytes of sound`);
  return { egress_id: egress.egressId, recording, url: url ?? "" };
}
