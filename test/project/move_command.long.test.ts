import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { DatabaseSync } from "node:sqlite";
import { buffer } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";
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

/** `npm run simulate` moves organizations while their clients write. */
it("`npm run organizations:move -- --remote` moves 30,000 rows, the recordings and the sealed days, unless a lock keeps them", async () => {
  const service = await aServiceAtCloudflare([1]);
  const { config, objects, buckets } = service;
  const { files, endpoint } = await startStorage();
  let text = withRegion(readFileSync(config, "utf8"), undefined, { shard: 0, region: "us" });
  text = withRegion(text, undefined, { shard: 1, region: "eu", jurisdiction: "eu" });
  writeFileSync(config, text);
  for (const suffix of ["", "_EU"]) {
    vi.stubEnv(`RECORDINGS_S3_ENDPOINT${suffix}`, endpoint);
    vi.stubEnv(`RECORDINGS_S3_ACCESS_KEY_ID${suffix}`, "storage-key");
    vi.stubEnv(`RECORDINGS_S3_SECRET_ACCESS_KEY${suffix}`, "storage-secret");
  }
  buckets.set("eu/audit-logs-eu", []);
  const databases = [service.directory, service.databaseOf(1)] as [DatabaseSync, DatabaseSync];
  const env = { ...bindingsOfShards(databases), NEW_ORGANIZATIONS_SHARD: "0" } as Env;
  const { id, slug } = await openClinic(env);
  fillOrganization(databases[0], id, { rows: 30_000, hours: 1000 });
  files.set(`/recordings/${slug}/visit.wav`, Buffer.from("recording"));
  files.set(`/recordings/${slug}-2/visit.wav`, Buffer.from("of a neighbour"));
  const days = ["2026-01-30", "2026-01-31"].map((day) => `${id}/${day}.ndjson.gz`);
  const bytes = Buffer.from([0x1f, 0x8b, 0xff]);
  for (const day of [...days, `${id}7/2026-01-31.ndjson.gz`]) objects.set(`default/audit-logs/${day}`, bytes);
  const before = digestsOf(databases[0], id);
  const move = (...args: string[]) =>
    done(service.run("organizations_move", "--remote", "--yes", "--organization", String(id), ...args));
  const output = await move("--to-region", "eu");
  expect(output).toContain("and 3 files");
  expect(output).not.toContain("storage-secret");
  expect(digestsOf(databases[1], id)).toEqual(before);
  for (const day of days) expect(objects.get(`eu/audit-logs-eu/${day}`)).toEqual(bytes);
  letMinutesPass(databases);
  buckets.set("default/audit-logs", [{ enabled: true }]);
  const cleaned = await move("--delete-old");
  expect(cleaned).toContain("Deleted its old rows in shard 0.");
  expect(cleaned).toContain(
    "In the region us, its sealed days are locked until 2032-02-01: run this again then.",
  );
  expect(digestsOf(databases[0], id).calls?.count).toBe(0);
  expect(objects.has(`default/audit-logs/${days[0]}`)).toBe(true);
  buckets.set("default/audit-logs", []);
  await move("--delete-old");
  expect([...files.keys()].toSorted()).toEqual([
    `/recordings-eu/${slug}/visit.wav`,
    `/recordings/${slug}-2/visit.wav`,
  ]);
  expect([...objects.keys()].toSorted()).toEqual([
    `default/audit-logs/${id}7/2026-01-31.ndjson.gz`,
    ...days.map((day) => `eu/audit-logs-eu/${day}`),
  ]);
});
