/**
 * `npm run deploy`: migrates the databases in production, and uploads the Worker. Takes the flags of `wrangler deploy`. With
 * --local, it migrates the local databases instead, and uploads nothing.
 *
 * Of several databases, each must be one of ours: with a range of ids of its own, as the directory knows it. The directory learns
 * of organizations that it has forgotten, because it was restored from an earlier time.
 */
import { completeDirectory } from "./complete_directory.ts";
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
  const entered = completeDirectory(databases.map(({ database }) => database));
  if (entered > 0)
    process.stdout.write(`Organizations that the first database did not know, and now knows: ${entered}.\n`);
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
      if (range === undefined || range !== given?.range) throw new Error(rangeRefusal(database, range));
      return { database, range };
    });
    return [...(directory ? [{ database: directory }] : []), ...withRanges];
  } catch (error) {
    throw new Error(`Nothing is deployed. ${(error as Error).message}`);
  }
}

function rangeRefusal({ shard, remote }: Database, range: number | undefined): string {
  const fault =
    range === undefined
      ? "has no range of ids"
      : "has a range of ids that the first database has not given it. If it is no database of another service";
  const end = range === undefined ? ". Run" : ", run";
  return `${bindingOf(shard)} ${fault}${end} \`npm run shards:add${remote ? " -- --remote" : ""}\`, which completes it.`;
}

function migrate(database: Database, range: number | undefined) {
  // It asks before it changes a database in production.
  const command = ["d1", "migrations", "apply", bindingOf(database.shard), ...targetFlags(database)];
  runWrangler(command, { stdio: "inherit" });
  // A table that is new begins at 1.
  if (range !== undefined) queryDatabase(database, rangeStatements(database.shard, range));
}
