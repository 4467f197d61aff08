/**
 * `npm run restore -- --input FILE`: loads a file from `npm run backup` into an empty database. If instead of FILE there are
 * FILE.0, FILE.1 and so on, loads them into several databases.
 *
 * A restored database is quiet (see src/database/quiet.ts) until it is resumed with --resume. --after-time-travel makes a
 * database quiet that D1's Time Travel has restored.
 */
import { readFileSync } from "node:fs";
import { filesToRestore, requireComplete } from "./backup_files.ts";
import { CONSENT_USAGE, type Consent, consentOptions, say } from "./command.ts";
import {
  chosenDatabases,
  runDatabaseCommand,
  SHARD_USAGE,
  type ShardArguments,
  shardNumber,
  shardOption,
} from "./database_command.ts";
import {
  type Database,
  givenRange,
  homeless,
  homesBeside,
  type KnownShard,
  knownShards,
  ownRange,
  theseDatabases,
} from "./databases.ts";
import { nameOf } from "./deployment.ts";
import { SCHEMA } from "./exported_copy.ts";
import { QUIET_STATE, QUIETING_STATEMENTS, RESUMING_STATEMENTS } from "./quiet_statements.ts";
import { OWN_SHARD } from "./shard_statements.ts";
import { queryDatabase, type Rows, statementsOf } from "./statement_runner.ts";
import { carryOut, type Step } from "./steps.ts";
import { bindingOf, runWrangler, sameTarget, type Target, targetFlags } from "./wrangler.ts";
import { boundShards } from "./wrangler_config.ts";

const USAGE = `
Usage: npm run restore -- --input FILE | --after-time-travel | --resume [--remote]

  --input FILE         loads a file from \`npm run backup\` into an empty database, which is then quiet: it sends no
                       webhooks, deletes no files, seals no day of the access log and asks LiveKit nothing
  --after-time-travel  makes a database quiet after Time Travel has restored it
  --resume             ends this state, and activates the webhook endpoints that were active in the backup
${SHARD_USAGE}${CONSENT_USAGE}`;

const options = {
  ...consentOptions,
  input: { type: "string" },
  "after-time-travel": { type: "boolean" },
  resume: { type: "boolean" },
  ...shardOption,
} as const;

runDatabaseCommand(
  USAGE,
  options,
  async ({ input, "after-time-travel": isPutBack, resume: isOver, ...target }) => {
    if ([input, isPutBack, isOver].filter(Boolean).length !== 1)
      throw new Error("Choose one: npm run restore -- --input FILE, or --after-time-travel, or --resume");
    if (input) return restoreAll(target, input);
    const databases = await chosenDatabases(target);
    const steps = isPutBack ? databases.map(quieting) : await resuming(databases);
    if (steps.length === 0) return say("The database is not quiet: there is nothing to resume.");
    if (!(await carryOut(steps, target))) return;
    const [first] = databases;
    if (isPutBack && first) sayWhatIsNext(databases, await knownShards(first));
  },
);

const quieting = (database: Database): Step => ({
  says: `Make ${nameOf(database)} quiet: its webhook endpoints are turned off, and its queued webhooks and mails are dropped`,
  run: async () => sayHowItIs((await queryDatabase(database, [...QUIETING_STATEMENTS, QUIET_STATE])).at(-1)),
});

async function resuming(databases: Database[]): Promise<Step[]> {
  const steps: Step[] = [];
  for (const each of databases) {
    const [[{ is_quiet, endpoints } = {}] = []] = await queryDatabase(each, [QUIET_STATE]);
    if (is_quiet)
      steps.push({
        says: `Resume ${nameOf(each)}: ${endpoints} webhook endpoints are turned on, and the cron deletes what is past its retention`,
        async run() {
          await queryDatabase(each, RESUMING_STATEMENTS);
          say(`Resumed. Webhook endpoints that are active again, as in the backup: ${endpoints}.`);
        },
      });
  }
  return steps;
}

async function restoreAll({ shard, ...target }: ShardArguments & Consent, input: string) {
  const files = filesToRestore(input, shardNumber(shard));
  for (const file of files.values()) requireComplete(file);
  const databases = theseDatabases(target, [...files.keys()]);
  for (const database of databases) await requireEmpty(database);
  const steps = databases.map((each): Step => {
    const file = files.get(each.shard) ?? input;
    return {
      says: `Load ${file} into the empty database ${nameOf(each)}`,
      run: () => restore(each, file),
    };
  });
  if (!(await carryOut(steps, target))) return;
  const known = await knownShards(databases[0] as Database);
  await requireRanges(databases, known);
  sayWhatIsNext(databases, known);
  if (shard === undefined) requireAll(databases, known);
}

/** A directory that is older than the other databases would not find some organizations, and would give their slugs away. */
function sayWhatIsNext(databases: Database[], known: KnownShard[]) {
  const [first] = databases as [Database];
  // The directory may not yet know all databases that the configuration binds.
  const shards = [...databases, ...known].map(({ shard }) => shard).concat(boundShards(first));
  if (shards.every((shard) => shard === 0)) return;
  say(
    `Before you serve requests, run \`npm run deploy${sameTarget(first, { withRemote: false })}\`: it enters the organizations of the other databases into the first one.`,
  );
}

function requireAll(databases: Database[], known: KnownShard[]) {
  const restored = databases.map(({ shard }) => shard);
  const missing = homesBeside(restored, known);
  const reasons = missing.map((each) => `There was no file for shard ${each.shard}. ${homeless(each)}`);
  if (reasons.length === 0) return;
  throw new Error(
    `THE BACKUP IS NOT COMPLETE:\n  ${reasons.join("\n  ")}\n` +
      "To restore one of these databases from its own file: npm run restore -- --input FILE --shard N",
  );
}

async function requireEmpty(target: Target) {
  const [present = []] = await queryDatabase(target, [SCHEMA]);
  if (present.length > 0)
    throw new Error(
      "The database is not empty, and a restore does not change a database that has tables. Restore into a new one: " +
        (target.remote ? "see src/docs/backup.md." : "use --persist-to with a new folder."),
    );
}

async function restore(target: Database, input: string) {
  // The file runs in one transaction: if it fails, the database stays empty. For a remote database, wrangler shows the progress.
  if (target.remote) {
    const command = ["d1", "execute", bindingOf(target.shard), "--yes", "--file", input];
    await runWrangler([...command, ...targetFlags(target)], { stdio: "inherit" });
  } else await loadLocally(target, input);
  const checks = [QUIET_STATE, "PRAGMA foreign_key_check", OWN_SHARD];
  const [state, broken = [], [own] = []] = await queryDatabase(target, checks);
  if (broken.length > 0)
    throw new Error(`The restored database has rows whose parents are missing: ${JSON.stringify(broken)}`);
  if (Number(own?.shard ?? 0) !== target.shard) throw new Error(misplaced(target));
  say("Restored. All foreign keys are valid.");
  sayHowItIs(state);
}

async function loadLocally(target: Database, input: string) {
  try {
    await queryDatabase(target, await statementsOf(readFileSync(input, "utf8")));
  } catch (error) {
    // For a damaged file, SQLite's message quotes the text that it cannot parse, which may be health data.
    throw new Error(`The file cannot be loaded: ${(error as Error).message.split(/["'`]/)[0]?.trim()}`);
  }
}

function misplaced({ shard }: Database) {
  return `${bindingOf(shard)} now has the data of another database: recreate it, and restore its own file.`;
}

/** @throws Error if a file is from another database, or from before an organization moved to this one */
async function requireRanges(databases: Database[], known: KnownShard[]) {
  for (const database of databases) {
    const given = givenRange(database, known);
    if (given !== undefined && (await ownRange(database, known)) !== given)
      throw new Error(misplaced(database));
  }
}

/** @throws Error if the database is not quiet: it must not be served like that */
function sayHowItIs(state: Rows | undefined) {
  const { is_quiet, endpoints } = state?.[0] ?? {};
  if (!is_quiet) throw new Error("The database is not quiet. Run the command with --after-time-travel.");
  process.stdout.write(
    "The database is quiet: it sends no webhooks, deletes no files, seals no day of the access log and asks LiveKit nothing, until you run the command with --resume.\n" +
      `Webhook endpoints that are inactive until then: ${endpoints}.\n`,
  );
}
