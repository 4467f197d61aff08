import { readFileSync, writeFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { done } from "../e2e/support/ended.ts";
import { aServiceAtCloudflare, NAME } from "./support/service_at_cloudflare.ts";

vi.setConfig({ testTimeout: 600_000 });

const MINUTE = 60_000;

it("npm run status shows what runs, the state of each database, and what needs attention", async () => {
  const service = await aServiceAtCloudflare([1]);
  const { directory, databaseOf, config, environment, hooks } = service;
  const url = environment.CLOUDFLARE_API_BASE_URL;
  writeFileSync(config, readFileSync(config, "utf8").replace('PUBLIC_URL = ""', `PUBLIC_URL = "${url}"`));
  hooks.health = () => ({ status: 200, body: { status: "ok", version: "3f2a1b9c0d1e" } });
  const set = (name: string, minutes: number) =>
    directory
      .prepare("insert or replace into database_settings (name, value) values (?, ?)")
      .run(name, Date.now() - minutes * MINUTE);
  set("cron", 3);
  set("backup", 300);
  databaseOf(1).exec("delete from d1_migrations");
  databaseOf(1).exec("insert into moves (organization_id, since) values (17, 1)");
  const output = await done(service.run("status"));
  expect(output).toContain(`  ${url} runs 3f2a1b9c0d1e, and is ok.\n`);
  const [, first = "", second = ""] = output.split(/\n(?=organization-video)/);
  expect(first.split("\n").slice(0, -1)).toEqual([
    `${NAME} (DB)`,
    "  migrations   all have run",
    "  size         0.0 MB, 0.0 % of 10 GB",
    expect.stringMatching(/^ {2}cron {9}last run \d minutes ago$/),
    "  quiet        no",
    "  frozen       no organization",
    "  last seal    none",
    "  last backup  5 hours ago",
  ]);
  expect(second).toContain("! migrations   pending: ");
  expect(second).toContain("! cron         last run never");
  expect(second).toContain("! frozen       the organizations 17, which are moving or being deleted");
  expect(second).toContain("! last backup  never");
  for (const { method, body } of service.requests)
    if (method !== "GET") expect(JSON.stringify(body)).not.toMatch(/\b(INSERT|UPDATE|DELETE) /);

  set("quiet", 180);
  set("cron", 120);
  hooks.health = () => ({ status: 503, body: { error: "The service is not ready: shard 1" } });
  const later = await done(service.run("status"));
  expect(later).toContain(`! ${url}/health answered 503: The service is not ready: shard 1\n`);
  expect(later).toContain("! cron         last run 2 hours ago");
  expect(later).toContain(
    `! quiet        since a restore 3 hours ago: run npm run restore -- --remote --config ${config} --resume when`,
  );
});
