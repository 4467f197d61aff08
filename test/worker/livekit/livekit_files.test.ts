import { FileInfo, SegmentsInfo } from "@livekit/protocol";
import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, reportEgress } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { aLiveKitRoom, anEgressId, at, delivered, EgressStatus, VISIT_AT } from "../support/livekit.ts";
import { logged } from "../support/logged.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { aQueue, workerWith } from "../support/queue.ts";
import { aBucket, fileExists, storeFile } from "../support/storage.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

type Room = Awaited<ReturnType<typeof aLiveKitRoom>>;

const DAY = 24 * 60;

const nanoseconds = (seconds: number) => BigInt(VISIT_AT + seconds * 1000) * 1_000_000n;

const storedAt = (storage_key: string) => `https://storage.test/recordings/${storage_key}`;

/** A room of a new clinic, and an egress that records it into two files and a playlist, with a manifest. */
async function aRecordedRoom() {
  const clinic = await anOrganization();
  const [room, egress_id] = [await aLiveKitRoom(clinic), anEgressId()];
  const folder = `${clinic.slug}/${unique("folder")}`;
  const names = {
    video: `${folder}/video.mp4`,
    audio: `${folder}/audio.ogg`,
    playlist: `${folder}/hls/index.m3u8`,
    livePlaylist: `${folder}/hls/live.m3u8`,
    manifest: `${folder}/${egress_id}.json`,
  };
  const keys = Object.values(names);
  await Promise.all(keys.map(storeFile));
  const file = (filename: string, more: object = {}) =>
    new FileInfo({ filename, location: storedAt(filename), ...more });
  const info = {
    startedAt: nanoseconds(0),
    endedAt: nanoseconds(590),
    fileResults: [
      file(names.video, { startedAt: nanoseconds(4.25), duration: 585_500_000_000n, size: 104_857_600n }),
      file(names.audio, { startedAt: nanoseconds(5), duration: 1n, size: 1n }),
    ],
    segmentResults: [
      new SegmentsInfo({ playlistName: names.playlist, livePlaylistName: names.livePlaylist }),
    ],
    manifestLocation: storedAt(names.manifest),
  };
  return {
    clinic,
    room,
    egress_id,
    names,
    info,
    ended: (more: object = {}) => room.egress(egress_id, EgressStatus.EGRESS_COMPLETE, { ...info, ...more }),
    filesLeft: async () => (await Promise.all(keys.map(fileExists))).filter(Boolean).length,
    remove: () => clinic.platform.delete(`/egresses/${egress_id}`),
  };
}

const visitOf = (room: Room) => [
  room.joined("rita", 8, { attributes: { recording_consent: "true" } }),
  room.finished(595),
];

async function pathOf(room: Room) {
  const { id } = await given(platform.get(room.url));
  return `/organization_users/${room.owner.id}/calls/${id}`;
}

/** The only recording of the room's call, with its URL. */
async function recordingOf({ client }: Organization, room: Room) {
  const path = await pathOf(room);
  const { egresses } = await given(client.get(`${path}/egresses`));
  expect(egresses).toHaveLength(1);
  return {
    path: `${path}/egresses/${egresses[0].id}`,
    ...(await given(client.get(`${path}/egresses/${egresses[0].id}`))),
  };
}

describe("The files of LiveKit's egress", () => {
  it("are all deleted with it: two files, two playlists and the manifest; the first file is the download", async () => {
    const { clinic, room, ended, names, filesLeft, remove } = await aRecordedRoom();
    await delivered([...visitOf(room), ended()]);
    const { path, ...recording } = await recordingOf(clinic, room);
    expect(recording.url).toContain(names.video);
    // These come from the file, not from the egress process.
    expect(recording).toMatchObject({ started_at: at(4.25), duration: 585.5, size: 104_857_600 });
    const { audit_logs } = await given(clinic.client.get(`${path}/audit_logs`));
    expect(JSON.stringify(audit_logs)).not.toMatch(/started_at|duration|size/);
    expect(await filesLeft()).toBe(5);
    expect((await remove()).status).toBe(204);
    expect(await filesLeft()).toBe(0);
    expect(await recordingOf(clinic, room)).toMatchObject({ status: "egress_deleted", url: null });
  });

  it("are deleted even if only an event before the end named them", async () => {
    const { clinic, room, egress_id, info, names, filesLeft, remove } = await aRecordedRoom();
    const { endedAt: _, ...running } = info;
    await delivered([...visitOf(room), room.egress(egress_id, EgressStatus.EGRESS_ACTIVE, running)]);
    expect(await recordingOf(clinic, room)).toMatchObject({ status: "egress_active", url: null });
    await given(reportEgress(clinic, egress_id, { status: "egress_ended", storage_key: names.audio }));
    expect((await remove()).status).toBe(204);
    expect(await filesLeft()).toBe(0);
  });

  it("are deleted one by one if the storage refuses some, and the recording only with the last file", async () => {
    const { clinic, room, egress_id, ended, names } = await aRecordedRoom();
    await delivered([...visitOf(room), ended()]);
    const bucket = aBucket((keys) => keys.includes(names.manifest));
    const { fetcher, runCron } = workerWith({ RECORDINGS: bucket.binding });
    expectRefusal(
      await clinic.platform.through(fetcher).delete(`/egresses/${egress_id}`),
      503,
      "The file could not be deleted now: the service keeps trying",
    );
    expect(await Promise.all([names.video, names.audio, names.manifest].map(fileExists))).toEqual([
      false,
      false,
      true,
    ]);
    expect((await recordingOf(clinic, room)).status).toBe("egress_ended");
    bucket.refuses = () => false;
    await runCron();
    expect(await fileExists(names.manifest)).toBe(false);
    expect((await recordingOf(clinic, room)).status).toBe("egress_deleted");
  });

  it("are left out and logged if they cannot be storage keys, while the others are kept", async () => {
    const { clinic, room, names, filesLeft, remove, ended, info } = await aRecordedRoom();
    const victim = await anOrganization();
    const theirs = `${victim.slug}/visit.mp4`;
    await storeFile(theirs);
    const lines = logged();
    const outside = [
      `${clinic.slug}/../${theirs}`,
      theirs,
      `/${clinic.slug}/a.mp4`,
      `${clinic.slug}/./a.mp4`,
    ];
    const fileResults = [
      info.fileResults[0] as FileInfo,
      ...outside.map((filename) => new FileInfo({ filename, location: "there" })),
    ];
    await delivered([
      ...visitOf(room),
      ended({ fileResults, manifestLocation: storedAt(`${clinic.slug}/../${theirs}`) }),
    ]);
    expect(lines()).toMatchObject([{ event: "livekit_file_not_used", reason: "not a storage key" }]);
    expect(JSON.stringify(lines())).not.toContain("mp4");
    expect((await recordingOf(clinic, room)).url).toContain(names.video);
    await given(remove());
    expect(await filesLeft()).toBe(1);
    expect(await fileExists(theirs)).toBe(true);
  });

  it.each([
    ["by a path-style URL", (key: string) => `https://storage.test/recordings/${key}`],
    ["by a virtual-hosted URL", (key: string) => `https://recordings.storage.test/${encodeURI(key)}`],
    ["by a presigned URL", (key: string) => `https://storage.test/recordings/${key}?X-Amz-Signature=a/b`],
    ["by its key", (key: string) => key],
  ])("include a manifest in another folder, which LiveKit names %s", async (_, location) => {
    const { clinic, room, ended, remove } = await aRecordedRoom();
    const manifest = `${clinic.slug}/${unique("other folder")}/manifest 1.json`;
    await storeFile(manifest);
    await delivered([...visitOf(room), ended({ manifestLocation: location(manifest) })]);
    await given(remove());
    expect(await fileExists(manifest)).toBe(false);
  });

  it("are deleted if an older server names one file and one playlist", async () => {
    const { clinic, room, egress_id, names, remove } = await aRecordedRoom();
    const event = JSON.parse(room.egress(egress_id, EgressStatus.EGRESS_COMPLETE));
    const { egressInfo } = event;
    const older = [
      { ...egressInfo, file: { filename: names.video, location: storedAt(names.video) } },
      { ...egressInfo, segments: { playlist_name: names.playlist } },
    ];
    await delivered([
      ...visitOf(room),
      ...older.map((each) => JSON.stringify({ ...event, egressInfo: each })),
    ]);
    expect((await recordingOf(clinic, room)).url).toContain(names.video);
    await given(remove());
    expect(await Promise.all([names.video, names.playlist].map(fileExists))).toEqual([false, false]);
  });
});

it("A file in LiveKit's backup storage has no URL, but an error that says where it is, after LiveKit's own", async () => {
  const { clinic, room, ended, names } = await aRecordedRoom();
  const location = `/var/lib/egress/${names.video}`;
  const fileResults = [new FileInfo({ filename: names.video, location, size: 5n })];
  await delivered([...visitOf(room), ended({ backupStorageUsed: true, fileResults })]);
  const recording = await recordingOf(clinic, room);
  expect(recording).toMatchObject({ status: "egress_ended", url: null });
  expect(recording.error).toBe(
    `LiveKit put the file into its backup storage, where the service can neither read nor delete it: ${location}`,
  );
  await delivered([ended({ backupStorageUsed: true, fileResults, error: "Session limit reached" })]);
  expect((await recordingOf(clinic, room)).error).toMatch(/^Session limit reached\. LiveKit put the file/);
});

describe("An egress that waits for its call", () => {
  const { runCron } = workerWith({ BULK_INVITES: aQueue().binding });

  it("has its files deleted after 30 days", async () => {
    const { clinic, room, ended, filesLeft } = await aRecordedRoom();
    travelTo(fromNow(0));
    await delivered([ended()]);
    travelTo(fromNow(30 * DAY - 1));
    await runCron();
    expect(await filesLeft()).toBe(5);
    travelTo(fromNow(2));
    await runCron();
    expect(await filesLeft()).toBe(0);
    // If the call is reported after all, it shows the recording as deleted.
    await delivered(visitOf(room));
    const { path, ...recording } = await recordingOf(clinic, room);
    expect(recording).toMatchObject({ status: "egress_deleted", url: null });
    const { audit_logs } = await given(clinic.client.get(`${path}/audit_logs`));
    expect(audit_logs.map(({ event }: { event: string }) => event)).toEqual(["read", "create"]);
    const { access_logs } = await given(clinic.client.get("/access_logs?event=delete"));
    expect(access_logs).toMatchObject([{ resource: "egress", resource_id: recording.id, call_id: null }]);
  });

  it.each([
    ["after 29 days", 29, () => undefined],
    [
      "while their deletion fails",
      31,
      () => workerWith({ RECORDINGS: aBucket(() => true).binding }).runCron(),
    ],
  ])("keeps its files if the call is reported %s", async (_, days, before) => {
    const { clinic, room, ended, filesLeft, names } = await aRecordedRoom();
    travelTo(fromNow(0));
    await delivered([ended()]);
    travelTo(fromNow(days * DAY));
    await before();
    await delivered(visitOf(room));
    travelTo(fromNow(5 * DAY));
    await runCron();
    expect(await filesLeft()).toBe(5);
    expect((await recordingOf(clinic, room)).url).toContain(names.video);
  });

  it("is added to the call of the platform's report, and keeps LiveKit's values", async () => {
    const { clinic, egress_id, ended, names, filesLeft, remove } = await aRecordedRoom();
    await delivered([ended()]);
    const call = await aCall(clinic);
    expectRefusal(
      await changingNothing(() => reportEgress(clinic, egress_id, { status: "egress_active" })),
      422,
      "egress.call_key: the first report must name a call",
    );
    await given(reportEgress(clinic, egress_id, { call_key: call.key, status: "egress_active" }));
    const { egresses } = await given(clinic.client.get(`${call.path}/egresses`));
    expect(egresses).toMatchObject([{ status: "egress_ended", ended_at: at(590), duration: 585.5 }]);
    const { url } = await given(clinic.client.get(`${call.path}/egresses/${egresses[0].id}`));
    expect(url).toContain(names.video);
    await given(remove());
    expect(await filesLeft()).toBe(0);
  });
});
