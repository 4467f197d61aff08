import { describe, expect, it, onTestFinished } from "vitest";
import { reportCall, reportEgress } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { aLiveKitRoom, anEgressId, delivered } from "../support/livekit.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { keep } from "../support/retention.ts";
import { fileExists, storeFile } from "../support/storage.ts";
import { fromNow, travelTo } from "../support/time.ts";

/** A patient's call in a LiveKit room, with a recording. */
async function aRecordedRoom() {
  const clinic = await anOrganization();
  const room = await aLiveKitRoom(clinic);
  const reference = unique("patient");
  const attributes = { external_reference: reference, recording_consent: "true" };
  await delivered([room.joined("rita", 1, { attributes }), room.left("rita", 9, 1), room.finished(10)]);
  const recorded = async (of = room) => {
    const storage_key = `${clinic.slug}/${unique("file")}.mp4`;
    await storeFile(storage_key);
    const egress_id = anEgressId();
    return { storage_key, egress_id, event: of.recorded(egress_id, 10, storage_key) };
  };
  const { event } = await recorded();
  await delivered([event]);
  const [call] = (await given(clinic.client.get("/calls"))).calls;
  const path = `/organization_users/${call.organization_user_id}/calls/${call.id}/egresses`;
  const listed = async () =>
    (await given(clinic.client.get(path))).egresses.map((each: { id: number }) => each.id);
  return { clinic, room, reference, recorded, path, listed };
}

type Recorded = Awaited<ReturnType<typeof aRecordedRoom>>;

const DELETIONS: Record<string, (of: Recorded) => Promise<unknown>> = {
  "an erasure with texts=true": ({ clinic, reference }) =>
    given(clinic.client.delete(`/participants?external_reference=${reference}&texts=true`)),
  "the retention of recordings": async ({ clinic }) => {
    onTestFinished(async () => void (await keep(clinic, {})));
    await keep(clinic, { recordings: 1 });
    await workerWith({}).runCron();
    await keep(clinic, {});
  },
};

/** Ways to report a recording of the call that nobody reported before. `before` runs before the deletion. */
const REPORTERS: Record<
  string,
  (of: Recorded) => Promise<{ storage_key: string; report: () => Promise<unknown> }>
> = {
  LiveKit: async ({ recorded }) => {
    const { storage_key, event } = await recorded();
    return { storage_key, report: () => delivered([event]) };
  },
  "the platform": async ({ clinic, room, recorded }) => {
    const { storage_key, egress_id } = await recorded();
    const egress = { call_key: room.sid, status: "egress_ended", storage_key };
    return { storage_key, report: () => given(reportEgress(clinic, egress_id, egress)) };
  },
  "LiveKit before, without its call, and the platform names the call": async ({ clinic, room, recorded }) => {
    const { storage_key, egress_id, event } = await recorded(await aLiveKitRoom(clinic));
    await delivered([event]);
    return { storage_key, report: () => given(reportEgress(clinic, egress_id, { call_key: room.sid })) };
  },
};

const storedId = async (clinic: Organization, storage_key: string) =>
  (await storedRows(clinic, "egress_files")).find((file) => file.storage_key === storage_key)?.egress_id;

describe.each(Object.keys(DELETIONS))("After %s", (deletion) => {
  it.each(Object.keys(REPORTERS))(
    "a recording reported by %s is never listed, and its file is deleted",
    async (reporter) => {
      const recorded = await aRecordedRoom();
      const { clinic, room, path, listed } = recorded;
      const { storage_key, report } = (await REPORTERS[reporter]?.(recorded)) ?? {};
      if (!storage_key) throw new Error("No such reporter");
      travelTo(fromNow(1));
      await DELETIONS[deletion]?.(recorded);
      const before = await listed();
      travelTo(fromNow(1));
      await report?.();
      const id = await storedId(clinic, storage_key);
      const isStored = (row: object) => expect.arrayContaining([expect.objectContaining({ id, ...row })]);
      expect(await storedRows(clinic, "egresses")).toEqual(isStored({ deletion_due_at: expect.any(Number) }));
      await given(reportCall(clinic, room.sid, { failed: true }));
      await workerWith({}).runCron();
      expect(await storedRows(clinic, "egresses")).toEqual(isStored({ status: "egress_deleted" }));
      expect(await fileExists(storage_key)).toBe(false);
      expect(await listed()).toEqual(before);
      expect(before).not.toContain(id);
      expect((await clinic.client.get(`${path}/${id}`)).status).toBe(404);
    },
  );
});
