import { env } from "cloudflare:workers";
import { EgressStatus } from "@livekit/protocol";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { platform } from "./support/api.ts";
import { aCall, aRecipient, reportCall, reportEgress } from "./support/calls.ts";
import { countingRoundTrips } from "./support/database.ts";
import { expectRefusal } from "./support/expectations.ts";
import { aLiveKitRoom, aLiveKitServer, anEgressId, at, delivered } from "./support/livekit.ts";
import { aLiveKit } from "./support/livekit_api.ts";
import { observedDatabase } from "./support/observed_database.ts";
import { anOrganization, given, unique } from "./support/organization.ts";
import { fileExists, storeFile } from "./support/storage.ts";
import { fromNow, travelTo } from "./support/time.ts";
import { changingNothing } from "./support/unchanged.ts";
import { throughWorkerWith } from "./support/worker.ts";

const FOREIGN =
  "egress.storage_key: is the file of another organization: store the recording under a key of its own";

/** A file that a recording of a clinic names, and a call of another clinic. */
async function aForeignFile() {
  const [theirs, clinic] = [await anOrganization(), await anOrganization()];
  const storage_key = `${unique("theirs")}.mp4`;
  await storeFile(storage_key);
  const recorded = await aCall(theirs);
  const { egress_id } = await recorded.addEgress({ storage_key });
  return { theirs, clinic, call: await aCall(clinic), storage_key, egress_id: egress_id as string };
}

/** The recording with its URL. */
async function recordingOf(
  { client }: Awaited<ReturnType<typeof anOrganization>>,
  path: string,
  egress_id: string,
) {
  const { egresses } = await given(client.get(`${path}/egresses`));
  const found = egresses.find((each: { egress_id: string }) => each.egress_id === egress_id);
  return given(client.get(`${path}/egresses/${found.id}`));
}

/** The lines of the log from here on, without those that each request and each run of the cron writes. */
function logged() {
  const spy = vi.spyOn(console, "log");
  onTestFinished(() => spy.mockRestore());
  return () =>
    spy.mock.calls
      .map(([line]) => JSON.parse(String(line)))
      .filter(({ event }) => !["request", "cron", "access_log_not_sealed"].includes(event));
}

describe("A file of another organization", () => {
  it("is refused, in the first report and in a later one, and cannot be deleted so", async () => {
    const { call, storage_key } = await aForeignFile();
    const first = { call_key: call.key, status: "egress_ended", storage_key };
    expectRefusal(await changingNothing(() => reportEgress(unique("egress"), first)), 422, FOREIGN);
    const { egress_id } = await call.addEgress({ storage_key: null });
    const later = () => reportEgress(egress_id, { storage_key, error: "New." });
    expectRefusal(await changingNothing(later), 422, FOREIGN);
    await given(platform.delete(`/egresses/${egress_id}`));
    expectRefusal(await changingNothing(later), 422, FOREIGN);
    expect(await fileExists(storage_key)).toBe(true);
  });

  it("is refused as well if a recording named it only before, or was deleted", async () => {
    const { call, storage_key, egress_id } = await aForeignFile();
    const other = `${unique("theirs")}.mp4`;
    await given(reportEgress(egress_id, { storage_key: other }));
    const mine = () => call.addEgress({ storage_key });
    await expect(mine()).rejects.toThrow(FOREIGN);
    await given(platform.delete(`/egresses/${egress_id}`));
    await expect(mine()).rejects.toThrow(FOREIGN);
    await expect(call.addEgress({ storage_key: other })).rejects.toThrow(FOREIGN);
  });

  it("goes to one organization if many name it at once", async () => {
    const calls = await Promise.all(
      Array.from({ length: 3 }, async () => aCall(await anOrganization(), { ended_at: undefined })),
    );
    const storage_key = `${unique("wanted")}.mp4`;
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        const { key } = calls[n % 3] as (typeof calls)[number];
        const egress = { call_key: key, status: "egress_ended", storage_key };
        return { key, ...(await reportEgress(unique("egress"), egress)) };
      }),
    );
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(10);
    expect(new Set(taken.map(({ key }) => key)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 422, FOREIGN);
  });

  it("is refused by the database, whatever code names it", async () => {
    const { call, clinic, storage_key } = await aForeignFile();
    const { id } = await call.addEgress();
    const statements = [
      env.DB.prepare("update egresses set storage_key = ? where id = ?").bind(storage_key, id),
      env.DB.prepare(
        `insert into egresses (organization_id, call_id, egress_id, status, is_stopped, storage_key, created_at, updated_at)
         values (?, ?, ?, 'egress_ended', 1, ?, 0, 0)`,
      ).bind(clinic.id, call.id, unique("egress"), storage_key),
    ];
    for (const statement of statements)
      await changingNothing(() => expect(statement.run()).rejects.toThrow(/file is of another organization/));
  });
});

describe("A file of the organization", () => {
  it("can be named by several of its recordings, and again by one that named another meanwhile", async () => {
    const call = await aCall(await anOrganization());
    const storage_key = `${unique("ours")}.mp4`;
    const { egress_id } = await call.addEgress({ storage_key });
    await call.addEgress({ storage_key });
    await given(reportEgress(egress_id, { storage_key: null }));
    await given(reportEgress(egress_id, { storage_key }));
  });

  it("costs its report no further round trip", async () => {
    const call = await aCall(await anOrganization());
    const { fetcher, during } = countingRoundTrips();
    const egress = { call_key: call.key, status: "egress_ended", storage_key: `${unique("ours")}.mp4` };
    const report = () => given(platform.through(fetcher).put(`/egresses/${unique("egress")}`, { egress }));
    expect(await during(report)).toBe(2);
  });
});

describe("A file of another organization that LiveKit names", () => {
  it("is left out and logged with ids only, and the rest is taken", async () => {
    const { clinic, storage_key } = await aForeignFile();
    const [room, egress_id] = [await aLiveKitRoom(clinic, { metadata: "" }), anEgressId()];
    const call = await aCall(clinic);
    await given(reportEgress(egress_id, { call_key: call.key, status: "egress_active" }));
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
        reason: "of another organization",
      },
    ]);
    await delivered([room.recorded(egress_id, 600)]);
    expect((await recordingOf(clinic, call.path, egress_id)).url).toContain(egress_id);
  });

  it("is left out of the first event of an egress, too", async () => {
    const { clinic, storage_key } = await aForeignFile();
    const [room, egress_id] = [await aLiveKitRoom(clinic, { metadata: "" }), anEgressId()];
    const call = await aCall(clinic, { ended_at: undefined });
    await delivered([room.egress(egress_id, EgressStatus.EGRESS_ACTIVE, { roomId: call.key })]);
    await given(call.report({ ended_at: at(700) }));
    await delivered([room.recorded(egress_id, 600, storage_key)]);
    expect(await recordingOf(clinic, call.path, egress_id)).toMatchObject({
      status: "egress_ended",
      url: null,
    });
  });

  it.each(["by its sid", "by an event that names its sid later"])(
    "is left out where the egress waits for its call, and is taken %s",
    async (how) => {
      const { clinic, call: template, storage_key } = await aForeignFile();
      const [room, egress_id] = [await aLiveKitRoom(clinic, { metadata: "" }), anEgressId()];
      const early = room.recorded(egress_id, 600, storage_key);
      const isLate = how !== "by its sid";
      await delivered([isLate ? early.replaceAll(room.sid, "").replaceAll(room.name, "") : early]);
      const call = {
        waiting_room_slug: template.room.slug,
        organization_user_id: template.owner.id,
        started_at: at(0),
        ended_at: at(590),
        participants: [
          { key: unique("rita"), display_name: "Rita", role: "recipient", recording_consent: true },
        ],
      };
      const { id } = await given(reportCall(room.sid, call));
      if (isLate) await delivered([room.egress(egress_id, EgressStatus.EGRESS_ACTIVE)]);
      const path = `/organization_users/${template.owner.id}/calls/${id}`;
      expect(await recordingOf(clinic, path, egress_id)).toMatchObject({ status: "egress_ended", url: null });
    },
  );

  it("is taken where the egress turns out to be of that organization, and no fault is logged", async () => {
    const { theirs, call, storage_key } = await aForeignFile();
    const [room, egress_id] = [await aLiveKitRoom(theirs, { metadata: "" }), anEgressId()];
    const report = (key: string, waiting_room_slug: string, { id }: { id: number }) =>
      given(
        reportCall(key, {
          waiting_room_slug,
          organization_user_id: id,
          started_at: at(0),
          ended_at: at(700),
          participants: [aRecipient()],
        }),
      );
    // Without the call of its sid, the egress is of the one that the name of its room leads to.
    await report(room.name, call.room.slug, call.owner);
    let reported: Promise<{ id: number }> | undefined;
    const DB = observedDatabase({
      async query(run) {
        const result = await run();
        reported ??= report(room.sid, room.waitingRoom.slug, room.owner);
        await reported;
        return result;
      },
    });
    const lines = logged();
    const server = aLiveKitServer({ fetcher: throughWorkerWith({ DB }) });
    await delivered([room.recorded(egress_id, 600, storage_key)], server);
    const path = `/organization_users/${room.owner.id}/calls/${(await reported)?.id}`;
    expect((await recordingOf(theirs, path, egress_id)).url).toContain(storage_key);
    expect(lines()).toEqual([]);
  });

  it("is left out where the cron asks LiveKit", async () => {
    const { clinic, call, storage_key } = await aForeignFile();
    await env.DB.prepare("update egresses set check_at = null").run();
    travelTo(fromNow(0));
    const egress_id = anEgressId();
    const { id } = await given(reportEgress(egress_id, { call_key: call.key, status: "egress_active" }));
    const livekit = aLiveKit();
    livekit.egress(egress_id, EgressStatus.EGRESS_COMPLETE, {
      endedAt: BigInt(Date.parse(at(600))) * 1_000_000n,
      fileResults: [{ filename: storage_key }] as never,
    });
    travelTo(fromNow(11));
    const lines = logged();
    await livekit.runCron();
    expect(lines()).toEqual([
      { event: "livekit_file_not_used", egress_id: id, reason: "of another organization" },
      { event: "egress_recovered", egress_id: id, status: "egress_ended" },
    ]);
    expect(await recordingOf(clinic, call.path, egress_id)).toMatchObject({
      status: "egress_ended",
      url: null,
    });
  });
});

describe("A name of LiveKit's that cannot be a storage key", () => {
  it.each(["../theirs/visit.mp4", "/visit.mp4"])(
    "is left out and logged without it: %s",
    async (filename) => {
      const clinic = await anOrganization();
      const [room, egress_id] = [await aLiveKitRoom(clinic, { metadata: "" }), anEgressId()];
      const call = await aCall(clinic);
      await given(reportEgress(egress_id, { call_key: call.key, status: "egress_active" }));
      const lines = logged();
      await delivered([room.recorded(egress_id, 600, filename)]);
      expect(await recordingOf(clinic, call.path, egress_id)).toMatchObject({
        status: "egress_ended",
        error: "The name of the file cannot be a storage key, so there is no download",
        url: null,
      });
      expect(lines()).toMatchObject([{ event: "livekit_file_not_used", reason: "not a storage key" }]);
      expect(JSON.stringify(lines())).not.toContain("visit.mp4");
    },
  );
});
