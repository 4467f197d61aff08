/**
 * `npm run deploy`: migrates the databases in production, and uploads the Worker. With --local, it migrates the local databases
 * instead, and uploads nothing.
 *
 * Of several databases, each must be one of ours: with a range of ids of its own, as the directory knows it. The directory learns
 * of organizations that it has forgotten, because it was restored from an earlier time.
 */
import { runCommand } from "./command.ts";
import { boundDatabases, type Database, homeless, knownShards, ownRange } from "./databases.ts";
import { applyMigrations } from "./local_database.ts";
import { migrationFiles, recordMigrations } from "./migrations.ts";
import { rangeStatements } from "./shard_statements.ts";
import { closingDatabases, queryDatabase, type Rows, runAt } from "./statement_runner.ts";
import {
  bindingOf,
  configFlags,
  flagsOf,
  runWrangler,
  sameTarget,
  type Target,
  targetFlags,
  targetOptions,
} from "./wrangler.ts";
import { boundShards, databaseName, requireEnvironment } from "./wrangler_config.ts";

const usage = `
Usage: npm run deploy -- [--env NAME] [--dry-run]

Migrates the databases at Cloudflare, and uploads the Worker.

  --dry-run             says which databases it would migrate, and builds what it would upload; changes nothing anywhere
  --env NAME            deploys this environment of wrangler.toml
  --config FILE         another configuration
  --message TEXT, --tag TEXT
                        of the new version, as those of wrangler deploy
  --local, --persist-to DIR
                        migrates the local databases instead, and uploads nothing
`;

const options = {
  ...targetOptions,
  "dry-run": { type: "boolean" },
  message: { type: "string" },
  tag: { type: "string" },
} as const;

/** D1 takes 2 MB in a parameter. */
const ROWS_AT_ONCE = 10_000;

process.exitCode = await runCommand(usage, options, async ({ "dry-run": isDry, message, tag, ...values }) => {
  const target: Target = { ...values, remote: !values.local };
  requireEnvironment(target);
  if (isDry) describe(target);
  else await closingDatabases(() => migrateAll(target));
  if (!target.remote) return;
  const flags = [...configFlags(target), ...flagsOf({ message, tag })];
  await runWrangler(["deploy", ...flags, ...(isDry ? ["--dry-run"] : [])], {
    stdio: "inherit",
    // The build makes the reference of this environment.
    env: { ...process.env, ...(target.env && { CLOUDFLARE_ENV: target.env }) },
  });
});

async function migrateAll(target: Target) {
  const databases = await readyDatabases(target);
  if (target.remote) recordMigrations();
  const migrated: Migrated[] = [];
  for (const database of databases) migrated.push(await migrate(database));
  const entered = await completeDirectory(migrated);
  if (entered > 0)
    process.stdout.write(`Organizations that the first database did not know, and now knows: ${entered}.\n`);
}

/** Without asking Cloudflare: for that, one must have logged in. */
function describe(target: Target) {
  const names = boundShards(target).map((shard) => `${bindingOf(shard)} (${databaseName(target, shard)})`);
  const migrations = migrationFiles();
  process.stdout.write(
    `It would migrate ${names.join(", ")} ${target.remote ? "at Cloudflare" : "on this machine"}, up to ${migrations.at(-1)}${target.remote ? ", and upload this:" : "."}\n`,
  );
}

interface Ready {
  database: Database;
  /** The first one has none. */
  range?: number;
}

async function readyDatabases(target: Target): Promise<Ready[]> {
  try {
    const known = await knownShards(target);
    const [directory, ...others] = await boundDatabases(target, known);
    const ready: Ready[] = directory ? [{ database: directory }] : [];
    for (const database of others) {
      const given = known.find(({ shard }) => shard === database.shard);
      const range = await ownRange(database, known);
      if (range === undefined && given?.organizations) throw new Error(homeless(given));
      if (range === undefined || range !== given?.range) throw new Error(rangeRefusal(database, range));
      ready.push({ database, range });
    }
    return ready;
  } catch (error) {
    throw new Error(`Nothing is deployed. ${(error as Error).message}`);
  }
}

function rangeRefusal(database: Database, range: number | undefined): string {
  const fault =
    range === undefined
      ? "has no range of ids"
      : "has a range of ids that the first database has not given it. If it is no database of another service";
  const end = range === undefined ? ". Run" : ", run";
  return `${bindingOf(database.shard)} ${fault}${end} \`npm run shards:add${sameTarget(database)}\`, which completes it.`;
}

interface Migrated {
  database: Database;
  /** Those that the directory must know. */
  organizations: Rows;
}

async function migrate({ database, range }: Ready): Promise<Migrated> {
  const binding = bindingOf(database.shard);
  if (database.remote) {
    // It asks before it changes a database in production.
    const command = ["d1", "migrations", "apply", binding, ...targetFlags(database)];
    await runWrangler(command, { stdio: "inherit" });
  } else {
    const applied = await applyMigrations(runAt(database), database.shard);
    process.stdout.write(`${binding}: ${applied.join(", ") || "no migration was missing"}\n`);
  }
  if (range === undefined) return { database, organizations: [] };
  // A table that is new begins at 1.
  const statements = [
    ...rangeStatements(database.shard, range),
    "SELECT id, slug FROM organizations WHERE id NOT IN (SELECT organization_id FROM moves)",
  ];
  return { database, organizations: (await queryDatabase(database, statements)).at(-1) ?? [] };
}

/**
 * Enters the organizations that other databases have and the directory does not know: nobody finds them, and their slugs would be
 * given again.
 *
 * @returns how many
 * @throws Error if the directory knows another organization by the id or the slug of one of them
 */
async function completeDirectory([directory, ...others]: Migrated[]): Promise<number> {
  if (!directory || others.length === 0) return 0;
  const [places = []] = await queryDatabase(directory.database, ["SELECT id, slug, shard FROM places"]);
  const shards = new Map(places.map(({ id, slug, shard }) => [`${id} ${slug}`, Number(shard)]));
  const taken = new Set(places.flatMap(({ id, slug }) => [String(id), String(slug)]));
  const missing: object[] = [];
  for (const { database, organizations } of others)
    for (const { id, slug } of organizations) {
      const known = shards.get(`${id} ${slug}`);
      if (known === database.shard) continue;
      if (known !== undefined || taken.has(String(id)) || taken.has(String(slug)))
        throw new Error(
          `Organization ${id} is in shard ${database.shard}, and the first database says something else of its id or slug. Restore the first database from a time at which it knew this organization.`,
        );
      missing.push({ id, slug, shard: database.shard });
    }
  const sql =
    "INSERT INTO places (id, slug, shard) SELECT value ->> 'id', value ->> 'slug', value ->> 'shard' FROM json_each(?)";
  for (let from = 0; from < missing.length; from += ROWS_AT_ONCE) {
    const rows = JSON.stringify(missing.slice(from, from + ROWS_AT_ONCE));
    await queryDatabase(directory.database, [{ sql, params: [rows] }]);
  }
  return missing.length;
}
