import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { readConfiguration } from "../../src/dev/wrangler_config.ts";
import { done, refused } from "../e2e/support/ended.ts";
import { Refusal } from "./support/cloudflare_resources.ts";
import { aServiceAtCloudflare, NAME } from "./support/service_at_cloudflare.ts";

/** Each command loads wrangler, and some start it, which takes seconds on a busy machine. */
vi.setConfig({ testTimeout: 600_000 });

describe("npm run shards:add -- --remote", () => {
  it("creates a database in the account of its configuration, and prints no binding of wrangler's own", async () => {
    const service = await aServiceAtCloudflare([]);
    const output = await done(service.run("shards_add", "--remote", "--yes", "--jurisdiction", "eu"));
    expect(output).not.toContain("d1_databases");
    expect(output).toContain(`Done: Create the database ${NAME}-1 in the jurisdiction eu\n`);
    expect(service.requests).toContainEqual(
      expect.objectContaining({ method: "POST", body: { name: `${NAME}-1`, jurisdiction: "eu" } }),
    );
    for (const { path } of service.requests) expect(path).toMatch(/^\/accounts\/ours\//);
    expect(
      service.databases.get(`${NAME}-1`)?.prepare("select name, value from database_settings").all(),
    ).toEqual([
      { name: "range", value: 1 },
      { name: "shard", value: 1 },
    ]);
    expect(readFileSync(service.config, "utf8")).toContain('binding = "DB_1"');
  });

  it("uses the only account of the login for every request, and does not choose among several", async () => {
    const service = await aServiceAtCloudflare([]);
    writeFileSync(service.config, readFileSync(service.config, "utf8").replace('account_id = "ours"\n', ""));
    await done(service.run("shards_add", "--remote", "--yes"));
    expect(service.databases.has(`${NAME}-1`)).toBe(true);
    const paths = service.requests.map(({ path }) => path).filter((path) => path.startsWith("/accounts/"));
    for (const path of paths) expect(path).toMatch(/^\/accounts\/somebody-elses\//);
    service.accounts.push({ id: "another", name: "Another" });
    expect(await refused(service.run("shards_add", "--remote"))).toContain(
      "Choose an account: set account_id in ",
    );
  });

  it("does not claim that a database is in the EU if it existed before", async () => {
    const service = await aServiceAtCloudflare([]);
    service.add(`${NAME}-1`);
    const output = await refused(service.run("shards_add", "--remote", "--jurisdiction", "eu"));
    expect(output).toContain("exists outside the jurisdiction eu, and cannot be moved");
    expect(service.directory.prepare("select * from shards").all()).toEqual([]);
  });

  it("creates nothing if it could not write the binding", async () => {
    const service = await aServiceAtCloudflare([]);
    const text = readFileSync(service.config, "utf8");
    const inArray = text.replace(/^\[\[d1_databases\]\]\n(.+\n)+/m, "");
    writeFileSync(
      service.config,
      `d1_databases = [{ binding = "DB", database_name = "${NAME}", migrations_dir = "drizzle" }]\n${inArray}`,
    );
    const output = await refused(service.run("shards_add", "--remote"));
    expect(output).toContain("with each of its databases under a line [[d1_databases]], not in an array");
    expect([...service.databases.keys()]).toEqual([NAME]);
    expect(service.directory.prepare("select * from shards").all()).toEqual([]);
  });

  it("creates no database in place of one in which organizations live, whether an empty one is bound or none", async () => {
    const service = await aServiceAtCloudflare([1], [], { 1: 2 });
    service.databases.delete(`${NAME}-1`);
    expect(await refused(service.run("shards_add", "--remote"))).toContain(
      "2 organizations live in shard 1: bind their database, or restore its backup.",
    );
    expect([...service.databases.keys()]).toEqual([NAME]);
    const empty = service.add(`${NAME}-1`);
    const again = await refused(service.run("shards_add", "--remote"));
    expect(again).toContain("2 organizations live in shard 1");
    expect(empty.prepare("select * from sqlite_schema").all()).toEqual([]);
  });

  it("binds a database again that the configuration lost, and does not touch a database of another service", async () => {
    const service = await aServiceAtCloudflare([1], [], { 1: 2 });
    await done(service.run("shards_add", "--remote", "--yes"));
    expect(readFileSync(service.config, "utf8")).toContain(`database_name = "${NAME}-1"`);
    const other = service.add(`${NAME}-2`);
    other.exec("create table other (id integer)");
    const said = await refused(service.run("shards_add", "--remote"));
    expect(said).toContain("DB_2 has tables of another application");
    expect(other.prepare("select name from sqlite_schema").all()).toEqual([{ name: "other" }]);
    expect(service.directory.prepare("select shard from shards").all()).toEqual([{ shard: 1 }]);
  });
});

describe("npm run shards:add -- --remote --region", () => {
  it("creates the first database of a region with its buckets, also after an interruption, and `deploy` names what is missing", async () => {
    const service = await aServiceAtCloudflare([]);
    const add = (...args: string[]) => service.run("shards_add", "--remote", "--yes", ...args);
    const inEurope = ["--region", "eu", "--jurisdiction", "eu"];
    expect(await refused(add(...inEurope))).toContain("First name the region of the first database");
    const named = await done(service.run("setup", "--yes", "--region", "us"));
    expect(named).toContain("Name the region of the database us");
    expect(await refused(add())).toContain("Add --region: us, or a new one.");
    service.hooks.before = ({ body }) => {
      if (body.name === "audit-logs-eu") throw new Refusal(500, 10001, "We encountered an internal error.");
    };
    await refused(add(...inEurope));
    service.hooks.before = undefined;
    expect(await done(add(...inEurope))).toContain("npx wrangler secret put RECORDINGS_S3_ENDPOINT_EU");
    expect(service.settings.get(`${NAME}-1`)).toMatchObject({ jurisdiction: "eu" });
    expect(service.buckets.get("eu/recordings-eu")).toEqual([]);
    expect(service.buckets.get("eu/audit-logs-eu")).toHaveLength(1);
    const { vars, r2_buckets } = readConfiguration({ config: service.config });
    expect(vars).toMatchObject({ SHARD_REGIONS: "0=us,1=eu", RECORDINGS_S3_BUCKET_EU: "recordings-eu" });
    expect(r2_buckets.map(({ binding, jurisdiction }) => [binding, jurisdiction])).toEqual([
      ["RECORDINGS", undefined],
      ["AUDIT_LOGS", undefined],
      ["RECORDINGS_EU", "eu"],
      ["AUDIT_LOGS_EU", "eu"],
    ]);
    service.buckets.delete("eu/audit-logs-eu");
    const lacking = await refused(service.run("deploy", "--yes"));
    expect(lacking.match(/^ {2}.*$/gm)).toEqual([
      "  The bucket audit-logs-eu (AUDIT_LOGS_EU)",
      "  The setting or binding RECORDINGS_S3_ENDPOINT_EU of the region eu",
      "  The setting or binding RECORDINGS_S3_ACCESS_KEY_ID_EU of the region eu",
      "  The setting or binding RECORDINGS_S3_SECRET_ACCESS_KEY_EU of the region eu",
    ]);
    await done(service.run("setup", "--yes", "--region", "us"));
    expect(service.buckets.get("eu/audit-logs-eu")).toHaveLength(1);
  });
});

it("npm run restore -- --remote repeats a request once if the login has expired, and then says so", async () => {
  const service = await aServiceAtCloudflare([]);
  service.expired.requests = 1;
  await done(service.run("restore", "--remote", "--yes", "--resume"));
  service.expired.requests = 2;
  expect(await refused(service.run("restore", "--remote", "--yes", "--resume"))).toBe(
    "Cloudflare's API answered 401: Authentication error\n",
  );
});

it("npm run deploy and npm run backup refuse a configuration without a database in which organizations live", async () => {
  const service = await aServiceAtCloudflare([1, 2], [1], { 1: 1, 2: 1 });
  const backup = join(service.own, "backup.sql");
  for (const [command = "", ...args] of [["deploy"], ["backup", "--remote", "--output", backup]]) {
    const output = await refused(service.run(command, ...args));
    expect(output, command).toContain(
      "binds no DB_2. 1 organization lives in shard 2: bind its database, or restore its backup.",
    );
  }
  expect(existsSync(`${backup}.0`)).toBe(false);
  const absent = await refused(service.run("backup", "--remote", "--shard", "7", "--output", backup));
  expect(absent).toBe(`${service.config} binds no DB_7.\n`);
});

it("npm run deploy and npm run shards:add refuse an empty database in place of a known one", async () => {
  const service = await aServiceAtCloudflare([1], [1], { 1: 3 });
  service.add(`${NAME}-1`);
  for (const [command = "", ...args] of [["deploy"], ["shards_add", "--remote"]]) {
    const output = await refused(service.run(command, ...args));
    expect(output, command).toContain(
      "3 organizations live in shard 1: bind their database, or restore its backup.",
    );
  }
});

it("npm run restore -- --after-time-travel tells you to complete the directory before you serve requests", async () => {
  const service = await aServiceAtCloudflare([1], [1], { 1: 1 });
  const output = await done(
    service.run("restore", "--remote", "--yes", "--after-time-travel", "--shard", "0"),
  );
  expect(output).toContain("Before you serve requests, run `npm run deploy -- --config ");
});
