import { sendJson, server, settings, step } from "./demo_steps.ts";
import { uploadFile, webhookHeaders } from "./livekit_server.ts";
import { demoRecording } from "./recording.ts";

interface Visit {
  provider: { id: number; user_id: number };
  waiting_room_slug: string;
  organization_slug: string;
  /** Unique for each run. */
  prefix: string;
}

/**
 * A visit that only LiveKit reports, from the opening of its room to the file of its recording.
 *
 * @returns LiveKit's id of the recording
 */
export async function sendVisitEvents({ provider, waiting_room_slug, organization_slug, prefix }: Visit) {
  const seconds = (ago: number) => String(Math.floor(Date.now() / 1000) - ago);
  const room = {
    sid: `RM_${prefix}`,
    name: `${organization_slug}--visit-${prefix}`,
    creationTime: seconds(60),
    metadata: JSON.stringify({ waiting_room_slug, organization_user_id: provider.id }),
  };
  const egressInfo = { egressId: `EG_${prefix}`, roomId: room.sid, roomName: room.name };
  const filename = `${organization_slug}/visit-${prefix}.wav`;
  let sent = 0;

  /** LiveKit signs every event. */
  async function sendEvent(event: string, ago: number, more: object) {
    const id = `EV_${prefix}${++sent}`;
    const body = JSON.stringify({ event, id, createdAt: seconds(ago), ...more });
    const { LIVEKIT_API_KEY = "", LIVEKIT_API_SECRET = "" } = settings;
    const headers = await webhookHeaders(LIVEKIT_API_KEY, LIVEKIT_API_SECRET, body);
    return sendJson("POST", "/api/livekit/webhook", body, headers);
  }

  const joined = (name: string, ago: number, attributes: object) =>
    sendEvent("participant_joined", ago, {
      room,
      participant: {
        sid: `PA_${prefix}${name}`,
        identity: `${prefix}-${name}`,
        name,
        joinedAt: seconds(ago),
        attributes: { recording_consent: "true", ...attributes },
      },
    });

  await step("A room opens; its metadata says whose visit it is", sendEvent("room_started", 60, { room }));
  const asProvider = { role: "provider", user_id: String(provider.user_id) };
  await step("Paul joins, and consents to the recording", joined("Paul", 55, asProvider));
  await step("Rita joins, and consents too", joined("Rita", 50, {}));
  await step("The recording starts", sendEvent("egress_started", 45, { egressInfo }));
  await step("The visit ends", sendEvent("room_finished", 5, { room }));
  await uploadFile(server, settings, filename, demoRecording());
  const complete = {
    ...egressInfo,
    status: "EGRESS_COMPLETE",
    endedAt: `${seconds(5)}000000000`,
    fileResults: [{ filename, location: `https://storage.example.com/${filename}` }],
  };
  await step("The file is in the bucket", sendEvent("egress_ended", 1, { egressInfo: complete }));
  return egressInfo.egressId;
}
