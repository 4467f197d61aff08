import { MINUTE, SECOND } from "../../src/units.ts";
import { signatureOfLiveKit } from "../project/support/worker_in_node.ts";
import type { Clinic, Patient } from "./clinic.ts";
import { NoAnswer } from "./world.ts";

/** Sends an event. Like LiveKit's server, it retries after 5xx and after lost answers, and then gives up. */
async function sendEvent({ world, neighbour }: Clinic, event: object): Promise<void> {
  const body = JSON.stringify(event);
  for (let tries = 0; tries < 4; tries++) {
    const headers = {
      Authorization: signatureOfLiveKit(body, world.schedule.now),
      "Content-Type": "application/webhook+json",
    };
    try {
      const { status, body: answer } = await world.send("POST", "/api/livekit/webhook", headers, body);
      if (status >= 500 && status !== 503) world.violation(`LiveKit got ${status}`);
      if (JSON.stringify(answer).includes(neighbour.name))
        world.violation("LiveKit is shown another organization");
      if (status < 500) return;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
    }
    await world.schedule.pause(world.chance.below(2000));
  }
}

/** A visit in a LiveKit room, whose server reports its events late, twice and in any order. */
export async function playRoom(clinic: Clinic, patient: Patient): Promise<void> {
  const { world, slug, providers } = clinic;
  const { chance, schedule } = world;
  const owner = chance.pick(providers);
  const name = clinic.unique("room").replaceAll(" ", "_");
  const start = schedule.now - 30 * MINUTE;
  const at = (minutes: number) => String(Math.floor((start + minutes * MINUTE) / SECOND));
  const metadata = { waiting_room_slug: owner.waiting_room_slug, organization_user_id: owner.id };
  const sid = `RM_${name}`;
  const roomName = `${slug}--${name}`;
  const room = { sid, name: roomName, creationTime: at(0), metadata: JSON.stringify(metadata) };
  const participant = (who: string, said: object) => ({
    ...{ sid: `PA_${who}_${name}`, identity: `${who}_${name}`, joinedAt: at(1) },
    ...said,
  });
  const paula = { name: clinic.unique("Paula"), attributes: { recording_consent: "true" } };
  const rita = {
    name: patient.display_name,
    attributes: {
      external_reference: patient.external_reference,
      recording_consent: chance.pick(["true", "false"]),
    },
  };
  const egressId = `EG_${name}`;
  const file = `${slug}/${egressId}.mp4`;
  const egress = { egressId, roomId: sid, roomName };
  world.files.set(`recordings/${file}`, new Uint8Array([1]));
  const events = [
    { event: "room_started", createdAt: at(0), room },
    {
      event: "participant_joined",
      createdAt: at(1),
      room,
      participant: participant("paula", paula),
    },
    {
      event: "participant_joined",
      createdAt: at(2),
      room,
      participant: participant("rita", rita),
    },
    { event: "egress_started", createdAt: at(3), egressInfo: { ...egress, status: "EGRESS_STARTING" } },
    {
      event: "participant_left",
      createdAt: at(20),
      room,
      participant: participant("rita", rita),
    },
    {
      event: "egress_ended",
      createdAt: at(21),
      egressInfo: { ...egress, status: "EGRESS_COMPLETE", fileResults: [{ filename: file, size: "1" }] },
    },
    { event: "room_finished", createdAt: at(22), room },
  ].map((event, n) => ({ ...event, id: `EV_${name}_${n}` }));
  for (let n = 0; n < 2; n++) events.splice(chance.below(events.length), 0, chance.pick(events));
  const mixed = events
    .map((event, n) => ({ event, place: n + chance.below(3) }))
    .sort((one, other) => one.place - other.place);
  await clinic.naming(patient, async () => {
    for (let n = 0; n < mixed.length; n += 2)
      await Promise.all(mixed.slice(n, n + 2).map(({ event }) => sendEvent(clinic, event)));
  });
}
