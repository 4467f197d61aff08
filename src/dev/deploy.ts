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
  queuesIn,
  readAccountState,
  readDatabases,
  turnReplicationOn,
  unreplicatedIn,
} from "./account_state.ts";
import { askCloudflare } from "./cloudflare_api.ts";
import { CONSENT_USAGE, type Consent, consentOptions, mayChange, say } from "./command.ts";
import { runDatabaseCommand } from "./database_command.ts";
import {
  boundDatabases,
  type Database,
  homeless,
  type KnownShard,
  knownShards,
  ownRange,
} from "./databases.ts";
import {
  currentCommit,
  nameOf,
  pendingAfter,
  ranMigrations,
  requireHealthy,
  requireMigrationsThatRan,
} from "./deployment.ts";
import { migrate } from "./local_database.ts";
import { migrationFiles, recordMigrations } from "./migrations.ts";
import { missingInRegions } from "./region_configuration.ts";
import { RANDOM_SECRETS, SECRETS_BY_HAND } from "./setup_secrets.ts";
import { rangeStatements } from "./shard_statements.ts";
import { queryDatabase } from "./statement_runner.ts";
import {
  bindingOf,
  configFlags,
  flagsOf,
  runWrangler,
  sameConfig,
  sameTarget,
  type Target,
} from "./wrangler.ts";
import { readConfiguration } from "./wrangler_config.ts";

const usage = `
Usage: npm run deploy -- [--env NAME] [--dry-run]

Migrates the databases at Cloudflare, uploads the Worker, and checks its health at PUBLIC_URL. Asks before it migrates. With --local, it
uploads nothing.

${CONSENT_USAGE}`;

const NEEDED_SECRETS = [...RANDOM_SECRETS, ...SECRETS_BY_HAND];

/** Keeps the JSON of the rows below 2 MB, D1's limit for a parameter. */
const ROWS_AT_ONCE = 10_000;

const HERE = "SELECT id, slug FROM organizations WHERE id NOT IN (SELECT organization_id FROM moves)";

const OTHER_ENTRY = `SELECT value ->> 'id' AS id FROM json_each(?1)
  JOIN places ON places.id = value ->> 'id' OR places.slug = value ->> 'slug'
  WHERE (places.id, places.slug, places.shard) IS NOT (value ->> 'id', value ->> 'slug', ?2) LIMIT 1`;

const ENTER = `INSERT INTO places (id, slug, shard) SELECT value ->> 'id', value ->> 'slug', ?2 FROM json_each(?1)
  WHERE true ON CONFLICT (id) DO NOTHING RETURNING id`;

await runDatabaseCommand(usage, consentOptions, deploy, "remote");

async function deploy(target: Target & Consent) {
  const version = currentCommit();
  if (target.remote) await requireComplete(target);
  const ready = await readyDatabases(target);
  const plan = ready.map(({ database, pending }) =>
    pending.length > 0
      ? `Migrate ${nameOf(database)}: ${pending.join(", ")}`
      : `${nameOf(database)}: no migration is pending`,
  );
  if (target.remote) plan.push(`Upload the Worker${version ? `, as version ${version}` : ""}`);
  // A change of only the Worker can be taken back in seconds.
  const isAsked = target.remote && ready.some(({ pending }) => pending.length > 0);
  const isAgreed = await mayChange(plan, { ...target, remote: isAsked });
  if (isAgreed) await migrateAll(target, ready);
  if (!target.remote || process.exitCode) return;
  const flags = [...configFlags(target), ...flagsOf({ tag: version })];
  if (version) flags.push("--var", `VERSION:${version}`);
  await runWrangler(["deploy", ...flags, ...(isAgreed ? [] : ["--dry-run"])], {
    stdio: "inherit",
    // The build generates the reference of this environment.
    env: { ...process.env, ...(target.env && { CLOUDFLARE_ENV: target.env }) },
  });
  if (isAgreed) await requireHealthy(target, version);
}

/** Refuses to upload a Worker that could not serve. A dry run goes on to the pending migrations, if the databases exist. */
async function requireComplete(target: Target & Consent) {
  const configuration = readConfiguration(target);
  const state = await readAccountState(target, configuration);
  const isDry = target["dry-run"];
  const needed = NEEDED_SECRETS.filter((name) => !configuration.vars[name]);
  // A deployment turns replication on.
  const missing = [
    ...missingIn(state, needed),
    ...missingInRegions(configuration, state.secrets),
    ...(isDry ? unreplicatedIn(state) : []),
  ];
  if (missing.length === 0) return;
  const lacking = `Nothing is deployed. Cloudflare lacks:\n${missing.map((each) => `  ${each}`).join("\n")}\nRun \`npm run setup${sameTarget(target, { withRemote: false })}\`: it creates what it can, and ends with the commands for the other secrets.`;
  if (!isDry || !state.databases.every(({ found }) => found)) throw new Error(lacking);
  process.exitCode = 1;
  process.stderr.write(`${lacking}\n`);
}

async function migrateAll(target: Target, ready: Ready[]) {
  if (target.remote) {
    recordMigrations();
    await replicate(target);
    await sayWayBack(target, ready);
  }
  for (const each of ready) await migrateOne(each);
  const entered = await completeDirectory(target, ready);
  if (entered > 0) say(`Organizations missing in the first database and now entered: ${entered}.`);
}

async function replicate(target: Target) {
  for (const { name, found } of await readDatabases(target, readConfiguration(target)))
    if (found && !isReplicated(found)) {
      await turnReplicationOn(target, found);
      say(`Read replication of ${name} is on now.`);
    }
}

/** Called before the migrations, so that Time Travel can undo them. Before its first migration, a database has nothing to go back to. */
async function sayWayBack(target: Target, ready: Ready[]) {
  const all = migrationFiles().length;
  const migrating = ready.filter(({ pending }) => pending.length > 0 && pending.length < all);
  if (migrating.length === 0) return;
  const flags = sameConfig(target);
  const queues = queuesIn(readConfiguration(target)).map(
    (name) => `npx wrangler queues pause-delivery ${name}${flags}`,
  );
  say(`To go back to this moment, and lose everything that is written after it:
  1. Stop the cron: write crons = [] in ${target.config}, run \`npx wrangler triggers deploy${flags}\`, and wait 15 minutes.
  2. Stop the queues: ${queues.join(" && ")}
  3. If the new Worker was uploaded: npx wrangler rollback${flags}
  4. Run each of these lines as a whole, and answer wrangler's question with yes: after a no, the second command would run all the same.`);
  const databases = await readDatabases(target, readConfiguration(target));
  for (const { database } of migrating) {
    const { name, found } = databases.find(({ binding }) => binding === bindingOf(database.shard)) ?? {};
    const path = `/d1/database/${found?.uuid}/time_travel/bookmark`;
    const { bookmark } = await askCloudflare<{ bookmark: string }>(target, path);
    const shard = ready.length > 1 ? ` --shard ${database.shard}` : "";
    say(
      `     npx wrangler d1 time-travel restore ${name} --bookmark=${bookmark}${flags} && npm run restore${sameTarget(target)} --after-time-travel${shard} --yes`,
    );
  }
  say(`  5. Start the cron and the queues again: restore the crons line, run \`npx wrangler triggers deploy${flags}\`, and resume each queue with resume-delivery.
  6. Continue as src/docs/backup.md says, under "After a restore", and as src/docs/deploying.md says, under "Roll back".\n`);
}

interface Ready {
  database: Database;
  /** Undefined for the first database. */
  range: number | undefined;
  pending: string[];
}

async function readyDatabases(target: Target): Promise<Ready[]> {
  try {
    const known = await knownShards(target);
    const ready: Ready[] = [];
    for (const database of await boundDatabases(target, known)) {
      const range = database.shard === 0 ? undefined : await requireRange(database, known);
      ready.push({ database, range, pending: [] });
    }
    for (const each of ready) {
      const ran = await ranMigrations(each.database);
      requireMigrationsThatRan(each.database, ran);
      each.pending = pendingAfter(ran);
    }
    return ready;
  } catch (error) {
    throw new Error(`Nothing is deployed. ${(error as Error).message}`);
  }
}

async function requireRange(database: Database, known: KnownShard[]): Promise<number> {
  const given = known.find(({ shard }) => shard === database.shard);
  const range = await ownRange(database, known);
  if (range !== undefined && range === given?.range) return range;
  if (range === undefined && given?.organizations) throw new Error(homeless(given));
  const fault =
    range === undefined
      ? "has no range of ids. Run"
      : "has a range of ids that the first database has not given it. Unless it belongs to another service, run";
  throw new Error(
    `${bindingOf(database.shard)} ${fault} \`npm run shards:add${sameTarget(database)}\` to complete it.`,
  );
}

async function migrateOne({ database, range, pending }: Ready) {
  if (pending.length > 0) await migrate(database);
  if (!database.remote) say(`${bindingOf(database.shard)}: ${pending.join(", ") || "up to date"}`);
  // Updates SQLite's index statistics, including those of indexes that a migration has just created.
  await queryDatabase(database, ["PRAGMA optimize"]);
  // The ids of a new table would begin at 1.
  if (range !== undefined) await queryDatabase(database, rangeStatements(database.shard, range));
}

/** Enters the organizations that are missing in the directory: no request would find them, and others could get their slugs. */
async function completeDirectory(target: Target, ready: Ready[]): Promise<number> {
  let entered = 0;
  for (const { database } of ready.slice(1)) {
    const { shard } = database;
    const [organizations = []] = await queryDatabase(database, [HERE]);
    while (organizations.length > 0) {
      const params = [JSON.stringify(organizations.splice(0, ROWS_AT_ONCE)), shard];
      const [[other] = []] = await queryDatabase(target, [{ sql: OTHER_ENTRY, params }]);
      if (other)
        throw new Error(
          `Organization ${other.id} is in shard ${shard}, but the first database has another entry for its id or slug. Restore the first database from a time at which it knew this organization.`,
        );
      entered += (await queryDatabase(target, [{ sql: ENTER, params }]))[0]?.length ?? 0;
    }
  }
  return entered;
}
