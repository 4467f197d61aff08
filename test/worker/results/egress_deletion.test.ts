import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SYSTEM_USER_ID } from "../../../src/organization/members/organization_users.table.ts";
import { entriesAbout } from "../support/access_logs.ts";
import { theWorker } from "../support/api.ts";
import { aCall, ENDED_AT, reportEgress } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { aBucket, fileExists, storeFile } from "../support/storage.ts";
import { fromNow, timeAhead, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const HELD = "The call is under legal hold: end the hold first";
const NOT_NOW = "The file could not be deleted now: the service keeps trying";

const aKey = ({ slug }: Organization, type = "mp4") => `${slug}/${unique("file")}.${type}`;

/** An ended recording with its file, on an ended call to which everybody consented. */
async function aRecording(egress: object = {}, call: object = {}, organization?: Organization) {
  const clinic = organization ?? (await anOrganization());
  const recorded = await aCall(clinic, call);
  const storage_key = aKey(clinic, "wav");
  await storeFile(storage_key);
  const reported = await recorded.addEgress({ storage_key, ...egress });
  const path = `${recorded.path}/egresses/${reported.id}`;
  return {
    clinic,
    call: recorded,
    path,
    storage_key,
    reported,
    egress_id: reported.egress_id as string,
    report: (more: object) => reportEgress(clinic, reported.egress_id, more),
    remove: (fetcher = theWorker) =>
      clinic.platform.through(fetcher).delete(`/egresses/${reported.egress_id}`),
    read: () => given(clinic.client.get(path)),
    updates: async () => {
      const { audit_logs } = await given(clinic.client.get(`${path}/audit_logs?event=update`));
      return audit_logs.map(({ user_id, object_changes }: Record<string, unknown>) => ({
        user_id,
        object_changes,
      }));
    },
    keepFor: (days: number | null) => keepFor(clinic.id, days),
  };
}

const keepFor = (organization_id: number, days: number | null) =>
  env.DB.prepare("update organizations set recording_retention_days = ? where id = ?")
    .bind(days, organization_id)
    .run();

const deletedOnce = { object_changes: { status: ["egress_ended", "egress_deleted"] } };

it.each(["platform", "organization"])(
  "The %s's DELETE of a recording deletes the file, and keeps the recording with its audit log",
  async (by) => {
    const { clinic, reported, storage_key, path, read, updates, call, remove } = await aRecording();
    const isPlatform = by === "platform";
    expect((await read()).url).toContain(storage_key);
    travelTo(timeAhead());
    const again = () => (isPlatform ? remove() : clinic.client.delete(path));
    expect(await again()).toMatchObject({ status: 204, body: null });
    expect(await fileExists(storage_key)).toBe(false);
    const deleted = { ...reported, status: "egress_deleted", updated_at: timeAhead() };
    expect(await read()).toEqual({ ...deleted, url: null });
    expect((await given(clinic.client.get(`${call.path}/egresses`))).egresses).toEqual([deleted]);
    const user_id = isPlatform ? SYSTEM_USER_ID : clinic.admin.user_id;
    expect(await updates()).toEqual([{ ...deletedOnce, user_id }]);
    const { access_logs } = await given(clinic.client.get("/access_logs?event=delete"));
    expect(access_logs).toMatchObject([{ resource: "egress", resource_id: reported.id, call_id: call.id }]);
    const { events } = await given(clinic.client.get("/events?type=egress.deleted"));
    expect(events).toMatchObject([{ data: { egress_id: reported.id, call_id: call.id } }]);
    expect((await changingNothing(again)).status).toBe(204);
  },
);

describe("DELETE …/egresses/{id} while the storage fails", () => {
  async function aFailedDeletion() {
    const recording = await aRecording();
    const bucket = aBucket(() => true);
    const { fetcher, runCron } = workerWith({ RECORDINGS: bucket.binding });
    expectRefusal(await recording.remove(fetcher), 503, NOT_NOW);
    return { ...recording, bucket, runCron };
  }

  it("returns 503 and leaves the recording, which the cron deletes once, in the name of the first caller", async () => {
    const { clinic, path, read, storage_key, updates, reported } = await aRecording();
    const bucket = aBucket(() => true);
    const { fetcher, runCron } = workerWith({ RECORDINGS: bucket.binding });
    const bea = await clinic.addUser("Bea Boss", ["organization_admin"]);
    for (const client of [clinic.client, await clinic.addClient(bea.id)]) {
      const answer = await client.through(fetcher).delete(path);
      expectRefusal(answer, 503, NOT_NOW);
      expect(answer.headers.get("Retry-After")).toBe("60");
    }
    expect(await read()).toEqual({ ...reported, url: expect.stringContaining(storage_key) });
    expect(await updates()).toEqual([]);
    bucket.refuses = () => false;
    await runCron();
    expect(await updates()).toEqual([{ ...deletedOnce, user_id: clinic.admin.user_id }]);
    expect(await entriesAbout(clinic, "delete", "egress")).toMatchObject([
      { resource_id: reported.id, user_id: clinic.admin.user_id, api_client_id: clinic.client.id },
    ]);
  });

  it("is not carried out later under a new legal hold, but when that ends", async () => {
    const { bucket, runCron, call, read, storage_key, remove } = await aFailedDeletion();
    bucket.refuses = () => false;
    bucket.asked = [];
    await given(call.hold());
    await runCron();
    expect(bucket.asked.flat()).not.toContain(storage_key);
    expectRefusal(await remove(), 422, HELD);
    expect((await read()).url).toContain(storage_key);
    expect(await fileExists(storage_key)).toBe(true);
    await given(call.release());
    await runCron();
    expect((await read()).status).toBe("egress_deleted");
    expect(await fileExists(storage_key)).toBe(false);
  });

  it("does not delay other deletions, and is not forgotten after them", async () => {
    const stuck = await aFailedDeletion();
    stuck.bucket.refuses = (keys) => keys.includes(stuck.storage_key);
    const others = [await aRecording(), await aRecording()];
    for (const { keepFor } of others) await keepFor(1);
    await stuck.runCron();
    for (const { read, storage_key } of others) {
      expect((await read()).status).toBe("egress_deleted");
      expect(await fileExists(storage_key)).toBe(false);
    }
    expect((await stuck.read()).status).toBe("egress_ended");
    stuck.bucket.refuses = () => false;
    await stuck.runCron();
    expect((await stuck.read()).status).toBe("egress_deleted");
  });
});

it("The cron's deletion of recordings stops at a legal hold that begins during the run, before the file is deleted", async () => {
  const { call, keepFor, read, storage_key } = await aRecording();
  await keepFor(1);
  let held: Promise<unknown> | undefined;
  const DB = observedDatabase({
    prepare(text) {
      const looksForFiles = text.startsWith("select") && text.includes('"egress_files"');
      if (looksForFiles) held ??= given(call.hold());
    },
    async query(run) {
      await held;
      return run();
    },
  });
  const bucket = aBucket();
  await workerWith({ DB, RECORDINGS: bucket.binding }).runCron();
  expect(held).toBeDefined();
  expect(bucket.asked.flat()).not.toContain(storage_key);
  expect((await read()).url).toContain(storage_key);
  expect(await fileExists(storage_key)).toBe(true);
});

it("PUT …/egresses/{egress_id} that names another file during a deletion makes the cron delete both files", async () => {
  const { clinic, remove, storage_key, report, read, updates } = await aRecording();
  const other = aKey(clinic);
  await storeFile(other);
  const bucket = aBucket();
  bucket.before = async () => {
    bucket.before = async () => {};
    await given(report({ storage_key: other }));
  };
  const { fetcher, runCron } = workerWith({ RECORDINGS: bucket.binding });
  expectRefusal(await remove(fetcher), 503, NOT_NOW);
  await runCron();
  expect((await read()).status).toBe("egress_deleted");
  expect(await Promise.all([storage_key, other].map(fileExists))).toEqual([false, false]);
  expect(await updates()).toHaveLength(1);
});

it("A late PUT …/egresses/{egress_id} of a deleted recording has no visible effect, but the file that it names is deleted too", async () => {
  const { remove, report, read, updates, call, clinic } = await aRecording({ storage_key: null });
  await given(remove());
  const deleted = await read();
  const late = aKey(clinic);
  await storeFile(late);
  travelTo(fromNow(10));
  const end = { call_key: call.key, status: "egress_ended", ended_at: ENDED_AT, storage_key: late };
  const { url, ...shown } = deleted;
  expect(await given(report({ ...end, error: "Late" }))).toEqual(shown);
  await workerWith({}).runCron();
  expect(await fileExists(late)).toBe(false);
  expect(await read()).toEqual(deleted);
  expect(await updates()).toHaveLength(1);
  // The access log has an entry for each deletion.
  expect(await entriesAbout(clinic, "delete", "egress")).toHaveLength(2);
  await changingNothing(() => given(report(end)));
});

describe("A recording that has named several files", () => {
  /** A recording that has named three files in turn, and now names none. */
  async function aRecordingOfThree() {
    const recording = await aRecording();
    const { clinic, storage_key, report } = recording;
    const files = [storage_key, aKey(clinic), aKey(clinic)];
    for (const named of files) {
      await storeFile(named);
      await given(report({ storage_key: named }));
    }
    await given(report({ storage_key: null }));
    return { ...recording, filesExist: () => Promise.all(files.map(fileExists)) };
  }

  it("loses all of them when it is deleted", async () => {
    const { remove, filesExist } = await aRecordingOfThree();
    await given(remove());
    expect(await filesExist()).toEqual([false, false, false]);
  });

  it("keeps all of them under legal hold, and loses them when the hold has ended", async () => {
    const { call, keepFor, read, remove, filesExist } = await aRecordingOfThree();
    await given(call.hold());
    await keepFor(1);
    await workerWith({}).runCron();
    expectRefusal(await remove(), 422, HELD);
    expect(await filesExist()).toEqual([true, true, true]);
    await given(call.release());
    await workerWith({}).runCron();
    expect((await read()).status).toBe("egress_deleted");
    expect(await filesExist()).toEqual([false, false, false]);
  });
});

describe("DELETE …/egresses/{egress_id} with a file in another S3 storage", () => {
  const settings = { RECORDINGS_S3_ENDPOINT: "https://storage.test", RECORDINGS_S3_BUCKET: "clinic files" };

  function aStorage(answer: () => Promise<Response>) {
    const fetching = vi.spyOn(globalThis, "fetch").mockImplementation(answer);
    onTestFinished(() => fetching.mockRestore());
    const bucket = aBucket();
    const { fetcher } = workerWith({ ...settings, RECORDINGS: bucket.binding });
    return { fetching, bucket, fetcher };
  }

  it("sends a signed request for the file, and leaves the bound bucket alone", async () => {
    const clinic = await anOrganization();
    const storage_key = `${clinic.slug}/visit 1/(übung)+%.wav`;
    await storeFile(storage_key);
    const { remove } = await aRecording({ storage_key }, {}, clinic);
    const { fetching, bucket, fetcher } = aStorage(async () => new Response(null, { status: 204 }));
    expect((await remove(fetcher)).status).toBe(204);
    const [request] = fetching.mock.lastCall as [Request];
    expect(request.method).toBe("DELETE");
    expect(request.url).toBe(
      `https://storage.test/clinic%20files/${clinic.slug}/visit%201/%28%C3%BCbung%29%2B%25.wav`,
    );
    expect(request.headers.get("Authorization")).toMatch(
      /^AWS4-HMAC-SHA256 Credential=local-access-key\/\d{8}\/auto\/s3\/aws4_request, SignedHeaders=.*host.*, Signature=\w{64}$/,
    );
    expect(bucket.asked).toEqual([]);
    expect(await fileExists(storage_key)).toBe(true);
  });

  const xml = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`;

  it.each<[string, () => Promise<Response>, isGone?: boolean]>([
    ["answers 200", async () => new Response("", { status: 200 }), true],
    [
      "answers 404, because the file is gone",
      async () => new Response(xml("NoSuchKey"), { status: 404 }),
      true,
    ],
    [
      "answers 404, because the bucket is missing",
      async () => new Response(xml("NoSuchBucket"), { status: 404 }),
    ],
    ["answers 403", async () => new Response(xml("AccessDenied"), { status: 403 })],
    ["answers 500", async () => new Response("", { status: 500 })],
    ["redirects", async () => Response.redirect("https://elsewhere.test/", 307)],
    ["cannot be reached", async () => Promise.reject(new TypeError("Network connection lost."))],
  ])("deletes the recording only if the file is gone: the storage %s", async (_, answer, isGone = false) => {
    const { remove, read } = await aRecording();
    const { fetcher, fetching } = aStorage(answer);
    const removed = await remove(fetcher);
    if (isGone) expect(removed.status).toBe(204);
    else expectRefusal(removed, 503, NOT_NOW);
    expect(fetching).toHaveBeenCalledTimes(1);
    expect((await read()).status).toBe(isGone ? "egress_deleted" : "egress_ended");
  });
});
