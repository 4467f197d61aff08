import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, it } from "vitest";
import { storeIn } from "../../src/dev/file_store.ts";
import { withLocalBindings } from "../../src/dev/local_bindings.ts";
import { copyFiles, countFiles, deleteFilesOf, type RegionFiles } from "../../src/dev/move_files.ts";
import { readStorageSettings } from "../../src/settings.ts";
import { done, refused } from "./support/ended.ts";
import { rowsIn, tablesIn, withDatabases } from "./support/local_databases.ts";
import { anOrganization } from "./support/organization.ts";
import { reportRecording, uploadFile } from "./support/recordings.ts";
import { npmRun, startServer } from "./support/server.ts";

const FLAGS = ["--shards", "2", "--regions", "us,eu"];
const CONFIG = ".wrangler-us-eu.toml";

const bytes = Uint8Array.from(randomBytes(50_000));

const settingsWith = (RECORDINGS_S3_BUCKET: string) => ({
  ...parseEnv(readFileSync(".dev.vars", "utf8")),
  RECORDINGS_S3_BUCKET,
});

/** The databases and buckets in which an organization's data lie. */
async function placesOf(state: string, slug: string): Promise<string[]> {
  const databases = withDatabases(state, (all) =>
    [...all].flatMap(([shard, database]) => {
      const tables = tablesIn(database).filter((name) => name !== "places");
      const rows = tables.flatMap((name) => rowsIn(database, name));
      return rows.some((row) => row.includes(slug)) ? [`DB_${shard}`] : [];
    }),
  );
  const local = { persistTo: state, config: CONFIG };
  return withLocalBindings(local, async ({ RECORDINGS, ...env }) => {
    const { RECORDINGS_EU } = env as unknown as Record<"RECORDINGS_EU", R2Bucket>;
    for (const [name, bucket] of Object.entries({ RECORDINGS, RECORDINGS_EU }))
      if ((await bucket.list({ prefix: `${slug}/` })).objects.length > 0) databases.push(name);
    return databases;
  });
}

/** Over S3, as in production. */
async function copyOverS3(url: string, slug: string) {
  const regionOf = (bucket: string): RegionFiles => {
    const RECORDINGS_S3_ENDPOINT = `${url}/cdn-cgi/local/r2/s3`;
    const settings = readStorageSettings({ ...settingsWith(bucket), RECORDINGS_S3_ENDPOINT });
    const none = { list: async () => [], read: async () => null };
    const auditLogs = { ...none, write: async () => undefined, remove: async () => new Map() };
    const recordings = storeIn({ settings });
    return { region: bucket, bucketName: bucket, recordings, auditLogs, lockedDays: async () => 0 };
  };
  const [from, to] = [regionOf("recordings-eu"), regionOf("recordings")];
  const copy = () => copyFiles({ id: 1, slug }, { from, to }, () => {});
  expect([await copy(), await copy()]).toEqual([1, 0]);
  await deleteFilesOf({ id: 1, slug }, to);
  expect([await countFiles({ id: 1, slug }, from), await countFiles({ id: 1, slug }, to)]).toEqual([
    { files: 1, bytes: bytes.length },
    { files: 0, bytes: 0 },
  ]);
}

it("An organization of one region on `npm run dev` moves to another one with its rows and its files", async () => {
  const server = await startServer({ ownData: "regions", flags: FLAGS });
  const state = join(server.persistTo, "regions");
  const clinic = await anOrganization(server.url, { role: "provider", region: "eu" });
  const { organization, user, credentials } = clinic;
  expect(organization.region).toBe("eu");
  const { slug } = organization;
  const key = randomUUID();
  await uploadFile(server.url, settingsWith("recordings-eu"), `${slug}/${key}.wav`, bytes, "audio/wav");
  const path = await reportRecording(clinic, user, key, `${key}.wav`);
  const download = async (from: string, bucket: string) => {
    const headers = credentials as Record<string, string>;
    const answer = await fetch(`${from}/api/external${path}`, { headers });
    const { url } = (await answer.json()) as { url: string };
    expect(new URL(url).pathname).toContain(`/${bucket}/`);
    const file = await fetch(url);
    expect(file.headers.get("Content-Type")).toBe("audio/wav");
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(bytes);
  };
  await download(server.url, "recordings-eu");
  await copyOverS3(server.url, slug);
  await server.stop();
  expect(await placesOf(state, slug)).toEqual(["DB_1", "RECORDINGS_EU"]);
  await withLocalBindings({ persistTo: state, config: CONFIG }, async (env) => {
    const { AUDIT_LOGS_EU } = env as unknown as Record<"AUDIT_LOGS_EU", R2Bucket>;
    await AUDIT_LOGS_EU.put(`${organization.id}/2026-01-31.ndjson.gz`, bytes);
  });

  const run = (command: string, ...args: string[]) =>
    npmRun(command, "--", "--config", CONFIG, "--persist-to", state, ...args);
  const own = ["--organization", String(organization.id)];
  const move = (...args: string[]) => run("organizations:move", ...own, ...args);
  const unasked = await refused(move("--to-region", "us"));
  expect(unasked).toContain("copy its 2 files (1 MB) from the region eu to us");
  expect(unasked).toContain("there is no terminal to ask in");
  const moved = await done(move("--to-region", "us", "--yes"));
  expect(moved).toContain("The recorder must write its recordings to the bucket recordings from now on.");
  await done(run("deploy", "--local"));
  const there = await startServer({ ownData: "regions", flags: FLAGS });
  await download(there.url, "recordings");
  await there.stop();
  withDatabases(state, (all) => {
    for (const database of all.values())
      database.exec(
        "update moves set since = 0 where shard is not null; update organizations set is_suspended = 1 where id not in (select organization_id from moves)",
      );
  });
  const leaving = await done(run("organizations:delete", ...own, "--dry-run"));
  for (const region of ["us", "eu"]) expect(leaving).toContain(`in the region ${region}, which stay: 1\n`);
  const cleaning = move("--delete-old", "--yes");
  expect(await done(cleaning)).toContain("Copy the recordings that came late to the region eu");
  expect(await placesOf(state, slug)).toEqual(["DB_0", "RECORDINGS"]);
});
