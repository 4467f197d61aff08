/**
 * `npm run deploy`: migrates the databases in production, and uploads the Worker. Takes the flags of `wrangler deploy`. With
 * --local, it migrates the local databases instead, and uploads nothing.
 *
 * Of several databases, each must be one of ours: with a range of ids of its own, as the directory knows it.
 */
import { boundDatabases, type Database, homeless, knownShards, ownRange } from "./databases.ts";
import { readFlags } from "./flags.ts";
import { rangeStatements } from "./shard_statements.ts";
import {
  bindingOf,
  queryDatabase,
  runWrangler,
  type Target,
  targetFlags,
  targetOptions,
} from "./wrangler.ts";

const { values, without } = readFlags(targetOptions);
const target = { ...values, remote: !values.local } as Target;

try {
  const databases = readyDatabases();
  if (target.remote) await import("./record_migrations.ts");
  for (const { database, range } of databases) migrate(database, range);
  const flags = without("local", "remote", "persist-to");
  runWrangler(["deploy", ...flags, ...(target.remote ? [] : ["--dry-run"])], { stdio: "inherit" });
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

/** The databases with their ranges: the first one has none. */
function readyDatabases(): { database: Database; range?: number }[] {
  try {
    const [directory, ...others] = boundDatabases(target);
    const known = directory && others.length > 0 ? knownShards(directory) : [];
    const withRanges = others.map((database) => {
      const given = known.find(({ shard }) => shard === database.shard);
      const range = ownRange(database);
      if (range === undefined && given?.organizations) throw new Error(homeless(given));
      if (range === undefined || range !== given?.range) throw new Error(refusalOf(database, range));
      return { database, range };
    });
    return [...(directory ? [{ database: directory }] : []), ...withRanges];
  } catch (error) {
    throw new Error(`Nothing is deployed. ${(error as Error).message}`);
  }
}

function refusalOf({ shard, remote }: Database, range: number | undefined): string {
  const [fault, command, help] =
    range === undefined
      ? ["has no range of ids", "add", "completes it"]
      : ["has a range of ids that the first database has not given it", "reconcile", "compares them"];
  const flag = remote ? " -- --remote" : "";
  return `${bindingOf(shard)} ${fault}. Run \`npm run shards:${command}${flag}\`, which ${help}.`;
}

function migrate(database: Database, range: number | undefined) {
  // It asks before it changes a database in production.
  const command = ["d1", "migrations", "apply", bindingOf(database.shard), ...targetFlags(database)];
  runWrangler(command, { stdio: "inherit" });
  // A table that is new begins at 1.
  if (range !== undefined) queryDatabase(database, rangeStatements(database.shard, range));
}
