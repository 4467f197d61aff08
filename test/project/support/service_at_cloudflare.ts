import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";
import { migratedDatabase, migrationFiles } from "../../../src/dev/migrations.ts";
import { RANDOM_SECRETS, SECRETS_BY_HAND } from "../../../src/dev/setup_secrets.ts";
import { rangeStatement, rangeStatements } from "../../../src/dev/shard_statements.ts";
import { bindDatabase } from "../../../src/dev/wrangler_config.ts";
import { printsOf } from "../../support/prints.ts";
import { startCloudflare } from "./cloudflare_api.ts";

/** The name of the first database. */
export const NAME = "organization-video-visit-service";

/** A service in production with these databases, and with organizations in some of them. */
export async function aServiceAtCloudflare(
  shards: number[],
  bound = shards,
  organizations: Record<number, number> = {},
) {
  const cloudflare = await startCloudflare();
  onTestFinished(async () => {
    await cloudflare.stop();
  });
  const directory = cloudflare.add(NAME, aMigratedDatabase());
  for (const shard of shards) {
    const database = cloudflare.add(`${NAME}-${shard}`, aMigratedDatabase());
    directory.exec(rangeStatement(shard));
    for (const statement of rangeStatements(shard, shard)) database.exec(statement);
  }
  for (const [shard, count] of Object.entries(organizations))
    for (let n = 0; n < count; n++) addOrganization(directory, Number(shard), n);
  for (const bucket of ["recordings", "audit-logs"]) cloudflare.buckets.set(`default/${bucket}`, []);
  for (const queue of ["bulk-invites", "webhook-deliveries", "invite-mails", "chores"])
    cloudflare.queues.set(queue, {});
  const secrets = [...RANDOM_SECRETS, ...SECRETS_BY_HAND].map((name) => [name, "secret"] as const);
  cloudflare.scripts.set(NAME, { secrets: new Map(secrets) });
  const own = mkdtempSync(join(tmpdir(), "service-"));
  onTestFinished(() => rmSync(own, { recursive: true, force: true, maxRetries: 5 }));
  const config = join(own, "wrangler.toml");
  const shipped = readFileSync("wrangler.toml", "utf8").replace(/^name = /m, 'account_id = "ours"\n$&');
  writeFileSync(config, shipped);
  for (const shard of bound) bindDatabase({ config }, shard);
  cpSync("drizzle", join(own, "drizzle"), { recursive: true });
  return {
    ...cloudflare,
    own,
    config,
    directory,
    databaseOf: (shard: number) => cloudflare.databases.get(`${NAME}-${shard}`) as DatabaseSync,
    run: (command: string, ...args: string[]) =>
      run(command, ["--config", config, ...args], { ...process.env, ...cloudflare.environment }),
  };
}

/** A migrated database with the table that `wrangler d1 migrations apply` adds. */
function aMigratedDatabase() {
  const database = migratedDatabase();
  database.exec(
    "create table d1_migrations (id integer primary key autoincrement, name text, applied_at text)",
  );
  const insert = database.prepare("insert into d1_migrations (name) values (?)");
  for (const file of migrationFiles()) insert.run(file);
  return database;
}

function addOrganization(directory: DatabaseSync, shard: number, n: number) {
  directory.prepare("insert into places (slug, shard) values (?, ?)").run(`clinic-${shard}-${n}`, shard);
}

/** Does not use spawnSync, because this process serves the API. */
function run(command: string, args: string[], env: NodeJS.ProcessEnv) {
  return printsOf(spawn(process.execPath, [resolve(`src/dev/${command}.ts`), ...args], { env })).ended;
}
