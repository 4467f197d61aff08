import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { EgressInfo, EgressStatus, FileInfo, ParticipantInfo, Room, WebhookEvent } from "@livekit/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sendEvent, startLiveKit, uploadFile } from "./support/livekit.ts";
import { anOrganization } from "./support/organization.ts";
import { type Server, startServer } from "./support/server.ts";

const sound = crypto.getRandomValues(new Uint8Array(20_000));

let settings: Record<string, string | undefined>;
let server: Server;
let livekit: Awaited<ReturnType<typeof startLiveKit>>;

const key = () => settings.LIVEKIT_API_KEY ?? "";
const secret = () => settings.LIVEKIT_API_SECRET ?? "";

beforeAll(async () => {
  settings = parseEnv(readFileSync(".dev.vars.example", "utf8"));
  livekit = await startLiveKit(key(), secret());
  server = await startServer({ flags: ["--var", `LIVEKIT_URL:${livekit.url}`] });
});
afterAll(() => livekit.stop());
beforeEach(() => {
  livekit.asked = [];
  ahead = 0;
});

let visits = 0;

/** An organization, a provider and a LiveKit room for their visit. */
async function aVisit() {
  const id = `e2e${++visits}`;
  const { organization, user: provider, external } = await anOrganization(server.url, { role: "provider" });
  const now = BigInt(Math.floor(Date.now() / 1000));
  const room = new Room({
    sid: `RM_${id}`,
    name: `${organization.slug}--visit-${id}`,
    creationTime: now - 60n,
    metadata: JSON.stringify({
      waiting_room_slug: provider.waiting_room_slug,
      organization_user_id: provider.id,
    }),
  });
  const egress = { egressId: `EG_${id}`, roomId: room.sid, roomName: room.name };
  const filename = `${organization.slug}/${id}/visit.wav`;
  const ended = new EgressInfo({
    ...egress,
    status: EgressStatus.EGRESS_COMPLETE,
    endedAt: now * 1_000_000_000n,
    fileResults: [new FileInfo({ filename, location: `https://bucket.example/${filename}` })],
  });
  let events = 0;
  async function send(event: string, fields: ConstructorParameters<typeof WebhookEvent>[0]) {
    const message = new WebhookEvent({ event, id: `EV_${id}${++events}`, createdAt: now, ...fields });
    const { status } = await sendEvent(server.url, key(), secret(), message);
    expect(status, event).toBe(200);
  }
  const participant = (identity: string, attributes: Record<string, string> = {}) =>
    new ParticipantInfo({
      sid: `PA_${id}${identity}`,
      identity: `${id}-${identity}`,
      joinedAt: now - 50n,
      attributes,
    });

  return {
    send,
    room,
    participant,
    started: new EgressInfo({ ...egress, status: EgressStatus.EGRESS_STARTING }),
    active: new EgressInfo({ ...egress, status: EgressStatus.EGRESS_ACTIVE, fileResults: ended.fileResults }),
    ended,
    filename,
    /** Sends all events except the last: two people meet, and the recording begins. */
    async takesPlace() {
      const consent = { recording_consent: "true" };
      await send("room_started", { room });
      for (const [identity, attributes] of [
        ["paul", { ...consent, role: "provider", user_id: String(provider.user_id) }],
        ["rita", consent],
      ] as const)
        await send("participant_joined", { room, participant: participant(identity, attributes) });
      await send("egress_started", { egressInfo: this.started });
      await uploadFile(server.url, settings, filename, sound);
      await send("room_finished", { room });
    },
    async recording() {
      const calls = `/organization_users/${provider.id}/calls`;
      const { body: list } = await external("GET", calls);
      const egresses = `${calls}/${list.calls[0].id}/egresses`;
      const { body } = await external("GET", egresses);
      return (await external("GET", `${egresses}/${body.egresses[0].id}`)).body;
    },
  };
}

async function download(url: string) {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

/** In milliseconds: how far the clock of the cron is ahead. */
let ahead = 0;

const runCron = async () => {
  const cron = `${server.url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*&time=${Date.now() + ahead}`;
  expect((await fetch(cron)).status).toBe(200);
};

function passAQuarterOfAnHour() {
  ahead += 900_000;
}

describe("A visit that only LiveKit reports", () => {
  it("becomes a call with a downloadable recording", async () => {
    const visit = await aVisit();
    await visit.takesPlace();
    await visit.send("egress_updated", { egressInfo: visit.active });
    expect(await visit.recording()).toMatchObject({ status: "egress_active", url: null });
    await visit.send("egress_ended", { egressInfo: visit.ended });
    const recording = await visit.recording();
    expect(recording).toMatchObject({ status: "egress_ended", is_stopped: true, error: null });
    expect(await download(recording.url)).toEqual(sound);
  });
});

describe("An egress_ended that never arrives", () => {
  it("is recovered by the cron", async () => {
    const visit = await aVisit();
    await visit.takesPlace();
    livekit.knows(visit.ended);
    await runCron();
    expect(livekit.asked).toEqual([]);
    passAQuarterOfAnHour();
    await runCron();
    expect(livekit.asked).toContain(visit.ended.egressId);
    const recording = await visit.recording();
    expect(recording).toMatchObject({ status: "egress_ended", error: null });
    expect(await download(recording.url)).toEqual(sound);
  });
});
