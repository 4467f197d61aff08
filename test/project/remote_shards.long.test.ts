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
  it("creates a database in the account of its configuration, or the only account of the login, and binds it", async () => {
    const service = await aServiceAtCloudflare([]);
    const add = (...args: string[]) => service.run("shards_add", "--remote", "--yes", ...args);
    const output = await done(add("--jurisdiction", "eu"));
    expect(output).not.toContain("d1_databases");
    expect(output).toContain(`Done: Create the database ${NAME}-1 in the jurisdiction eu\n`);
    expect(service.requests).toContainEqual(
      expect.objectContaining({ method: "POST", body: { name: `${NAME}-1`, jurisdiction: "eu" } }),
    );
    for (const { path } of service.requests) expect(path).toMatch(/^\/accounts\/ours\//);
    expect(service.databaseOf(1).prepare("select name, value from database_settings").all()).toEqual([
      { name: "range", value: 1 },
      { name: "shard", value: 1 },
    ]);
    const text = readFileSync(service.config, "utf8");
    expect(text).toContain('binding = "DB_1"');

    writeFileSync(service.config, text.replace('account_id = "ours"\n', ""));
    service.requests.length = 0;
    await done(add());
    expect(service.databases.has(`${NAME}-2`)).toBe(true);
    const paths = service.requests.map(({ path }) => path).filter((path) => path.startsWith("/accounts/"));
    for (const path of paths) expect(path).toMatch(/^\/accounts\/somebody-elses\//);
    service.accounts.push({ id: "another", name: "Another" });
    expect(await refused(add())).toContain("Choose an account: set account_id in ");
  });

  it("creates nothing if it cannot write the binding, and takes no database of another place or service", async () => {
    const service = await aServiceAtCloudflare([]);
    const add = (...args: string[]) => refused(service.run("shards_add", "--remote", ...args));
    const text = readFileSync(service.config, "utf8");
    const inArray = text.replace(/^\[\[d1_databases\]\]\n(.+\n)+/m, "");
    const array = `d1_databases = [{ binding = "DB", database_name = "${NAME}", migrations_dir = "drizzle" }]\n`;
    writeFileSync(service.config, array + inArray);
    expect(await add()).toContain(
      "with each of its databases under a line [[d1_databases]], not in an array",
    );
    expect([...service.databases.keys()]).toEqual([NAME]);
    writeFileSync(service.config, text);
    const other = service.add(`${NAME}-1`);
    const moved = await add("--jurisdiction", "eu");
    expect(moved).toContain("exists outside the jurisdiction eu, and cannot be moved");
    other.exec("create table other (id integer)");
    expect(await add()).toContain("DB_1 has tables of another application");
    expect(other.prepare("select name from sqlite_schema").all()).toEqual([{ name: "other" }]);
    expect(service.directory.prepare("select * from shards").all()).toEqual([]);
  });

  it("binds a database in which organizations live again, and refuses an empty one in its place, as does deploy", async () => {
    const service = await aServiceAtCloudflare([1], [], { 1: 2 });
    const unbound = readFileSync(service.config, "utf8");
    await done(service.run("shards_add", "--remote", "--yes"));
    expect(readFileSync(service.config, "utf8")).toContain(`database_name = "${NAME}-1"`);
    expect(service.directory.prepare("select shard from shards").all()).toEqual([{ shard: 1 }]);
    const said = "2 organizations live in shard 1: bind their database, or restore its backup.";
    const empty = service.add(`${NAME}-1`);
    expect(await refused(service.run("deploy"))).toContain(said);
    expect(await refused(service.run("shards_add", "--remote"))).toContain(said);
    writeFileSync(service.config, unbound);
    expect(await refused(service.run("shards_add", "--remote"))).toContain(said);
    expect(empty.prepare("select * from sqlite_schema").all()).toEqual([]);
    service.databases.delete(`${NAME}-1`);
    expect(await refused(service.run("shards_add", "--remote"))).toContain(said);
    expect([...service.databases.keys()]).toEqual([NAME]);
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

it("npm run restore -- --remote repeats a request once if the login has expired, and names what comes next", async () => {
  const service = await aServiceAtCloudflare([1], [1], { 1: 1 });
  const restore = (...args: string[]) => service.run("restore", "--remote", "--yes", ...args);
  service.expired.requests = 1;
  const output = await done(restore("--after-time-travel", "--shard", "0"));
  expect(output).toContain("Before you serve requests, run `npm run deploy -- --config ");
  service.expired.requests = 2;
  expect(await refused(restore("--resume"))).toBe("Cloudflare's API answered 401: Authentication error\n");
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
