/**
 * `npm run deploy`: migrates the databases in production, and uploads the Worker. With --local, it migrates the local databases
 * instead, and uploads nothing.
 *
 * With several databases, each must have its own range of ids, the one that the directory gave it. Organizations that are missing
 * in the directory, because it was restored from an earlier time, are entered again.
 */
import {
  isReplicated,
  missingIn,
  readAccountState,
  readDatabases,
  readSecretNames,
  turnReplicationOn,
} from "./account_state.ts";
import { runCommand } from "./command.ts";
import { boundDatabases, type Database, homeless, knownShards, ownRange } from "./databases.ts";
import { applyMigrations } from "./local_database.ts";
import { migrationFiles, recordMigrations } from "./migrations.ts";
import { RANDOM_SECRETS, SECRETS_BY_HAND } from "./setup_secrets.ts";
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
import { boundShards, databaseName, readConfiguration, requireEnvironment } from "./wrangler_config.ts";

const usage = `
Usage: npm run deploy -- [--env NAME] [--dry-run]

Migrates the databases at Cloudflare, and uploads the Worker.

  --dry-run             lists missing resources and the databases it would migrate, and builds what it would upload;
                        changes nothing
  --env NAME            deploys this environment of wrangler.toml
  --config FILE         uses another configuration file than wrangler.toml
  --message TEXT, --tag TEXT
                        the message and tag of the new version, as for wrangler deploy
  --local, --persist-to DIR
                        migrates the local databases instead, and uploads nothing
`;

const options = {
  ...targetOptions,
  "dry-run": { type: "boolean" },
  message: { type: "string" },
  tag: { type: "string" },
} as const;

const NEEDED_SECRETS = [...RANDOM_SECRETS, ...SECRETS_BY_HAND];

/** Keeps the JSON of the rows below 2 MB, D1's limit for a parameter. */
const ROWS_AT_ONCE = 10_000;

await runCommand(usage, options, async ({ "dry-run": isDry, message, tag, ...values }) => {
  const target: Target = { ...values, remote: !values.local };
  requireEnvironment(target);
  if (isDry) {
    if (target.remote) await requireComplete(target);
    describe(target);
  } else await closingDatabases(() => migrateAll(target));
  if (!target.remote) return;
  const flags = [...configFlags(target), ...flagsOf({ message, tag })];
  await runWrangler(["deploy", ...flags, ...(isDry ? ["--dry-run"] : [])], {
    stdio: "inherit",
    // The build generates the reference of this environment.
    env: { ...process.env, ...(target.env && { CLOUDFLARE_ENV: target.env }) },
  });
  if (!isDry) await sayWhatIsMissing(target);
});

/** Called after the upload, because a new Worker cannot have secrets before it. */
async function sayWhatIsMissing(target: Target) {
  const secrets = await readSecretNames(target, readConfiguration(target));
  const missing = NEEDED_SECRETS.filter((name) => !secrets.includes(name));
  if (missing.length > 0)
    process.stdout.write(
      `\nThe Worker cannot serve requests until it has these secrets:\n${missing.map((name) => `  npx wrangler secret put ${name}${sameTarget(target, { withRemote: false }).replace(" --", "")}`).join("\n")}\n`,
    );
}

async function migrateAll(target: Target) {
  const databases = await readyDatabases(target);
  if (target.remote) {
    recordMigrations();
    await replicate(target);
    for (const database of databases) await sayBookmark(database.database);
  }
  const migrated: Migrated[] = [];
  for (const database of databases) migrated.push(await migrate(database));
  const entered = await completeDirectory(migrated);
  if (entered > 0)
    process.stdout.write(`Organizations missing in the first database and now entered: ${entered}.\n`);
}

/** @throws Error listing everything that is bound but does not exist at Cloudflare */
async function requireComplete(target: Target) {
  const missing = missingIn(await readAccountState(target, readConfiguration(target)), NEEDED_SECRETS);
  if (missing.length > 0)
    throw new Error(
      `Cloudflare lacks:\n${missing.map((each) => `  ${each}`).join("\n")}\nRun \`npm run setup${sameTarget(target, { withRemote: false })}\`: it creates what it can, and ends with the commands for the other secrets.`,
    );
}

function describe(target: Target) {
  const names = boundShards(target).map((shard) => `${bindingOf(shard)} (${databaseName(target, shard)})`);
  const migrations = migrationFiles();
  process.stdout.write(
    `It would migrate ${names.join(", ")} ${target.remote ? "at Cloudflare" : "on this machine"}, up to ${migrations.at(-1)}${target.remote ? ", and upload this:" : "."}\n`,
  );
}

async function replicate(target: Target) {
  for (const { name, found } of await readDatabases(target, readConfiguration(target))) {
    if (!found || isReplicated(found)) continue;
    await turnReplicationOn(target, found);
    process.stdout.write(`Read replication of ${name} is on now.\n`);
  }
}

/** Called before the migrations, so that Time Travel can undo them. */
async function sayBookmark(database: Database) {
  const name = databaseName(database, database.shard);
  const info = await runWrangler(["d1", "time-travel", "info", name, "--json", ...configFlags(database)]);
  const { bookmark } = JSON.parse(info);
  process.stdout.write(
    `To restore ${name} to this moment: npx wrangler d1 time-travel restore ${name} --bookmark=${bookmark}\n`,
  );
}

interface Ready {
  database: Database;
  /** Undefined for the first database. */
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
      : "has a range of ids that the first database has not given it. Unless it belongs to another service";
  const end = range === undefined ? ". Run" : ", run";
  return `${bindingOf(database.shard)} ${fault}${end} \`npm run shards:add${sameTarget(database)}\` to complete it.`;
}

interface Migrated {
  database: Database;
  /** The organizations that live in the database, which the directory must know. */
  organizations: Rows;
}

async function migrate({ database, range }: Ready): Promise<Migrated> {
  const binding = bindingOf(database.shard);
  if (database.remote) {
    // wrangler asks before it changes a database in production.
    const command = ["d1", "migrations", "apply", binding, ...targetFlags(database)];
    await runWrangler(command, { stdio: "inherit" });
  } else {
    const applied = await applyMigrations(runAt(database), database.shard);
    process.stdout.write(`${binding}: ${applied.join(", ") || "up to date"}\n`);
  }
  // Updates SQLite's index statistics, including those of indexes that a migration has just created.
  await queryDatabase(database, ["PRAGMA optimize"]);
  if (range === undefined) return { database, organizations: [] };
  // The ids of a new table would begin at 1.
  const statements = [
    ...rangeStatements(database.shard, range),
    "SELECT id, slug FROM organizations WHERE id NOT IN (SELECT organization_id FROM moves)",
  ];
  return { database, organizations: (await queryDatabase(database, statements)).at(-1) ?? [] };
}

/**
 * Enters the organizations of other databases that are missing in the directory: no request would find them, and their slugs
 * could be given to others.
 *
 * @returns the number of organizations that were entered
 * @throws Error if the directory has another organization with the id or slug of one of them
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
          `Organization ${id} is in shard ${database.shard}, but the first database has another entry for its id or slug. Restore the first database from a time at which it knew this organization.`,
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
