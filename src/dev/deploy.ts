/**
 * `npm run deploy`: migrates the databases in production, and uploads the Worker. Takes the flags of `wrangler deploy`. With
 * --local, it migrates the local databases instead, and uploads nothing.
 *
 * Of several databases, each must be one of ours: with a range of ids of its own, as the directory knows it.
 */
import { boundDatabases, type Database, knownShards, unlessEmpty } from "./databases.ts";
import { readFlags } from "./flags.ts";
import { OWN_RANGE, rangeStatements } from "./shard_statements.ts";
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
  const databases = boundDatabases(target);
  const ranges = rangesOf(databases);
  if (target.remote) await import("./record_migrations.ts");
  for (const database of databases) migrate(database, ranges.get(database.shard));
  const flags = without("local", "remote", "persist-to");
  runWrangler(["deploy", ...flags, ...(target.remote ? [] : ["--dry-run"])], { stdio: "inherit" });
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

/** The ranges of all but the first database. */
function rangesOf(databases: Database[]): Map<number, number> {
  const [directory, ...others] = databases;
  const given = directory && others.length > 0 ? knownShards(directory) : [];
  return new Map(
    others.map((database) => {
      const range = unlessEmpty(() => queryDatabase(database, [OWN_RANGE]))?.[0]?.[0]?.range;
      if (range === undefined || range !== given.find(({ shard }) => shard === database.shard)?.range)
        throw new Error(refusalOf(database, range !== undefined));
      return [database.shard, Number(range)];
    }),
  );
}

function refusalOf({ shard, remote }: Database, hasRange: boolean): string {
  const [fault, command, help] = hasRange
    ? ["has a range of ids that the first database has not given it", "reconcile", "compares them"]
    : ["has no range of ids", "add", "completes it"];
  const flag = remote ? " -- --remote" : "";
  return `Nothing is deployed. ${bindingOf(shard)} ${fault}. Run \`npm run shards:${command}${flag}\`, which ${help}.`;
}

function migrate(database: Database, range: number | undefined) {
  // It asks before it changes a database in production.
  const command = ["d1", "migrations", "apply", bindingOf(database.shard), ...targetFlags(database)];
  runWrangler(command, { stdio: "inherit" });
  // A table that is new begins at 1.
  if (range !== undefined) queryDatabase(database, rangeStatements(database.shard, range));
}
