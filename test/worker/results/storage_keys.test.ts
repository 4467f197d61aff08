import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, reportEgress } from "../support/calls.ts";
import { aLiveKitRoom, anEgressId, at, delivered } from "../support/livekit.ts";
import { logged } from "../support/logged.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { storeFile } from "../support/storage.ts";
import { changingNothing } from "../support/unchanged.ts";

const OF_ANOTHER =
  "egress.storage_key: is, or was, the file of another recording: store each under a key of its own";

const aKey = ({ slug }: Organization) => `${slug}/${unique("file")}.mp4`;

/** A file that a clinic's recording names, and another call of the clinic. */
async function aTakenFile() {
  const clinic = await anOrganization();
  const storage_key = aKey(clinic);
  await storeFile(storage_key);
  const recorded = await aCall(clinic);
  const { egress_id } = await recorded.addEgress({ storage_key });
  return { clinic, recorded, call: await aCall(clinic), storage_key, egress_id: egress_id as string };
}

async function recordingOf({ client }: Organization, path: string, egress_id: string) {
  const { egresses } = await given(client.get(`${path}/egresses`));
  const found = egresses.find((each: { egress_id: string }) => each.egress_id === egress_id);
  return given(client.get(`${path}/egresses/${found.id}`));
}

it("PUT …/egresses/{egress_id} with another recording's file is also refused by the database, whatever code writes it", async () => {
  const { call, clinic, storage_key, egress_id } = await aTakenFile();
  await given(reportEgress(clinic, egress_id, { storage_key: null }));
  const { id } = await call.addEgress();
  const statements = [
    env.DB.prepare("update egresses set storage_key = ? where id = ?").bind(storage_key, id),
    env.DB.prepare(
      `insert into egresses (organization_id, call_id, egress_id, status, is_stopped, storage_key, created_at, updated_at)
       values (?, ?, ?, 'egress_ended', 1, ?, 0, 0)`,
    ).bind(clinic.id, call.id, unique("egress"), storage_key),
  ];
  for (const statement of statements)
    await changingNothing(() => expect(statement.run()).rejects.toThrow(/file is of another recording/));
});

/** The path of the room's call, which has ended with everybody's consent. */
async function visited(room: Awaited<ReturnType<typeof aLiveKitRoom>>) {
  const attributes = { recording_consent: "true" };
  await delivered([room.started(), room.joined("rita", 1, { attributes }), room.finished(700)]);
  const { id } = await given(platform.get(room.url));
  return `/organization_users/${room.owner.id}/calls/${id}`;
}

describe("Another recording's file in LiveKit's egress events", () => {
  it("is left out and logged with ids only, while the rest of the event applies", async () => {
    const { clinic, call, storage_key } = await aTakenFile();
    const [room, egress_id] = [await aLiveKitRoom(clinic, { metadata: "" }), anEgressId()];
    await given(reportEgress(clinic, egress_id, { call_key: call.key, status: "egress_active" }));
    const lines = logged();
    const event = room.recorded(egress_id, 600, storage_key);
    await delivered([event]);
    expect(await recordingOf(clinic, call.path, egress_id)).toMatchObject({
      status: "egress_ended",
      error: null,
      ended_at: at(600),
      url: null,
    });
    expect(lines()).toEqual([
      {
        event: "livekit_file_not_used",
        request_id: expect.any(String),
        livekit_event: "egress_ended",
        event_id: JSON.parse(event).id,
        room_sid: room.sid,
        reason: "of another recording",
      },
    ]);
    await delivered([room.recorded(egress_id, 600)]);
    expect((await recordingOf(clinic, call.path, egress_id)).url).toContain(egress_id);
  });

  it("belongs to the egress that named it first, even while that egress waits for its call", async () => {
    const clinic = await anOrganization();
    const [room, egress_id, storage_key] = [await aLiveKitRoom(clinic), anEgressId(), aKey(clinic)];
    await delivered([room.recorded(egress_id, 600, storage_key)]);
    const call = await aCall(clinic);
    await expect(call.addEgress({ storage_key })).rejects.toThrow(OF_ANOTHER);
    expect((await recordingOf(clinic, await visited(room), egress_id)).url).toContain(storage_key);
  });
});
