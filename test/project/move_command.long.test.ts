import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { DatabaseSync } from "node:sqlite";
import { buffer } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";
import { atCloudflare } from "../../src/dev/file_store.ts";
import { copyFiles, deleteFilesOf, type RegionFiles } from "../../src/dev/move_files.ts";
import { withRegion, withVariable } from "../../src/dev/region_configuration.ts";
import { withRegions } from "../../src/dev/region_files.ts";
import { done } from "../e2e/support/ended.ts";
import { bindingsOfShards } from "./support/busy_shards.ts";
import { openClinic } from "./support/clinic_in_node.ts";
import { digestsOf, fillOrganization, letMinutesPass } from "./support/moving.ts";
import { aServiceAtCloudflare } from "./support/service_at_cloudflare.ts";
import { letTimePass, likeWorkers } from "./support/worker_in_node.ts";

likeWorkers();
letTimePass();

it("The sealed days are copied over Cloudflare's API, and stay if a lock keeps them", async () => {
  const { environment, objects, config } = await aServiceAtCloudflare([]);
  vi.stubEnv("CLOUDFLARE_API_BASE_URL", environment.CLOUDFLARE_API_BASE_URL);
  vi.stubEnv("CLOUDFLARE_API_TOKEN", environment.CLOUDFLARE_API_TOKEN);
  const inRegion = (region: string, bucket: { bucket_name: string; jurisdiction?: string }): RegionFiles => ({
    ...{ region, bucketName: bucket.bucket_name, lockedDays: async () => 2192 },
    ...{ recordings: atCloudflare({ config }, bucket), auditLogs: atCloudflare({ config }, bucket) },
  });
  const from = inRegion("us", { bucket_name: "audit-logs" });
  const to = inRegion("eu", { bucket_name: "audit-logs-eu", jurisdiction: "eu" });
  for (const key of ["17/2026-01-30.ndjson.gz", "17/2026-01-31.ndjson.gz", "171/2026-01-31.ndjson.gz"])
    objects.set(`default/audit-logs/${key}`, Buffer.from([0x1f, 0x8b, 0xff, key.length]));
  const clinic = { id: 17, slug: "clinic" };
  for (const copied of [2, 0]) expect(await copyFiles(clinic, { from, to }, () => {})).toBe(copied);
  expect(objects.get("eu/audit-logs-eu/17/2026-01-31.ndjson.gz")).toEqual(
    objects.get("default/audit-logs/17/2026-01-31.ndjson.gz"),
  );
  const until = await deleteFilesOf(clinic, from);
  expect(new Date(until ?? 0).toISOString()).toMatch(/^2032-02-01T/);
  await deleteFilesOf(clinic, { ...to, lockedDays: async () => 0 });
  expect([...objects.keys()].filter((key) => key.startsWith("eu/"))).toEqual([]);
});

it("Regions with the same bucket are refused", async () => {
  const { config } = await aServiceAtCloudflare([1]);
  let text = withRegion(readFileSync(config, "utf8"), undefined, { shard: 0, region: "us" });
  text = withRegion(text, undefined, { shard: 1, region: "eu" });
  for (const suffix of ["", "_EU"])
    for (const name of ["ENDPOINT", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "BUCKET"])
      text = withVariable(text, undefined, `RECORDINGS_S3_${name}${suffix}`, "https://storage.test");
  writeFileSync(config, text);
  await withRegions({ config, remote: true }, async ({ filesOf }) => {
    filesOf(0);
    expect(() => filesOf(1)).toThrow("The regions us and eu have the same bucket");
  });
});

/** A storage with an S3 API, which names no digests in its lists. */
async function startStorage() {
  const files = new Map<string, Buffer>();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://storage.test");
    if (request.method === "PUT") files.set(pathname, await buffer(request));
    if (request.method === "DELETE") files.delete(pathname);
    const found = [...files].filter(([path]) => path.startsWith(`${pathname}/${searchParams.get("prefix")}`));
    const entries = found.map(
      ([path, { length }]) =>
        `<Contents><Key>${path.slice(pathname.length + 1)}</Key><Size>${length}</Size><ETag>parts-2</ETag><LastModified>2026-01-31T10:00:00Z</LastModified></Contents>`,
    );
    const list = `<EncodingType>url</EncodingType>${entries.join("")}`;
    const file = searchParams.has("list-type") ? list : files.get(pathname);
    response.writeHead(request.method === "GET" && file === undefined ? 404 : 200).end(file);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { files, endpoint: `http://127.0.0.1:${port}` };
}

it("`npm run organizations:move -- --remote --to-region` moves the rows, the recordings and the sealed days", async () => {
  const service = await aServiceAtCloudflare([1]);
  const { config, objects } = service;
  const { files, endpoint } = await startStorage();
  let text = withRegion(readFileSync(config, "utf8"), undefined, { shard: 0, region: "us" });
  text = withRegion(text, undefined, { shard: 1, region: "eu", jurisdiction: "eu" });
  writeFileSync(config, text);
  for (const suffix of ["", "_EU"]) {
    vi.stubEnv(`RECORDINGS_S3_ENDPOINT${suffix}`, endpoint);
    vi.stubEnv(`RECORDINGS_S3_ACCESS_KEY_ID${suffix}`, "storage-key");
    vi.stubEnv(`RECORDINGS_S3_SECRET_ACCESS_KEY${suffix}`, "storage-secret");
  }
  service.buckets.set("eu/audit-logs-eu", []);
  const databases = [service.directory, service.databaseOf(1)] as [DatabaseSync, DatabaseSync];
  const { id, slug } = await openClinic({
    ...bindingsOfShards(databases),
    NEW_ORGANIZATIONS_SHARD: "0",
  } as Env);
  files.set(`/recordings/${slug}/visit.wav`, Buffer.from("recording"));
  files.set(`/recordings/${slug}-2/visit.wav`, Buffer.from("of a neighbour"));
  objects.set(`default/audit-logs/${id}/2026-01-31.ndjson.gz`, Buffer.from("sealed"));
  const before = digestsOf(databases[0], id);
  const move = (...args: string[]) =>
    done(service.run("organizations_move", "--remote", "--yes", "--organization", String(id), ...args));
  const output = await move("--to-region", "eu");
  expect(output).toContain("and 2 files");
  expect(output).not.toContain("storage-secret");
  expect(digestsOf(databases[1], id)).toEqual(before);
  letMinutesPass(databases);
  await move("--delete-old");
  expect([...files.keys()].toSorted()).toEqual([
    `/recordings-eu/${slug}/visit.wav`,
    `/recordings/${slug}-2/visit.wav`,
  ]);
  expect([...objects.keys()]).toEqual([`eu/audit-logs-eu/${id}/2026-01-31.ndjson.gz`]);
});

/** `npm run simulate` moves organizations while their clients write. */
it("`npm run organizations:move -- --remote` moves an organization of 30,000 rows, and then deletes its old ones", async () => {
  const service = await aServiceAtCloudflare([1]);
  const databases = [service.directory, service.databaseOf(1)] as [DatabaseSync, DatabaseSync];
  const clinic = await openClinic({ ...bindingsOfShards(databases), NEW_ORGANIZATIONS_SHARD: "0" } as Env);
  fillOrganization(databases[0], clinic.id, { rows: 30_000, hours: 1000 });
  const before = digestsOf(databases[0], clinic.id);
  const args = ["--remote", "--yes", "--organization", String(clinic.id)];
  const output = await done(service.run("organizations_move", ...args, "--to", "1"));
  process.stdout.write(`Over D1's REST API: ${output}`);
  expect(digestsOf(databases[1], clinic.id)).toEqual(before);
  letMinutesPass(databases);
  const cleaned = await done(service.run("organizations_move", ...args, "--delete-old"));
  expect(cleaned).toContain("Deleted its old rows in shard 0.");
  expect(digestsOf(databases[0], clinic.id).calls?.count).toBe(0);
});
