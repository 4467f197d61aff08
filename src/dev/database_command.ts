import type { ParseArgsOptionsConfig } from "node:util";
import { runCommand, type Values } from "./command.ts";
import { boundDatabases, type Database, theseDatabases } from "./databases.ts";
import { closingDatabases } from "./statement_runner.ts";
import { type Target, targetOptions } from "./wrangler.ts";
import { requireEnvironment } from "./wrangler_config.ts";

const TARGET_USAGE = `  --remote             the database in production; if left out, the local one
  --persist-to FOLDER  where the local one is, if not in .wrangler/state
  --config FILE, -c    wrangler's configuration; wrangler.toml if left out
  --env NAME, -e       the environment in it
  --help, -h           shows this
`;

/** Runs a command of package.json on the databases that its arguments name. */
export async function runDatabaseCommand<const Own extends ParseArgsOptionsConfig>(
  usage: string,
  options: Own,
  run: (values: Target & Values<Own>) => unknown,
) {
  const all = { ...options, ...targetOptions };
  process.exitCode = await runCommand(usage + TARGET_USAGE, all, (values) => {
    const target = values as Target & Values<Own>;
    requireEnvironment(target);
    return closingDatabases(() => run(target));
  });
}

/** For a command that can work on one of several databases. */
export const shardOption = { shard: { type: "string" } } as const;

/** The line of its usage. */
export const SHARD_USAGE = `  --shard N            of several databases only the one with this number
`;

/** The target without the argument, which is a text. */
export type ShardArguments = Omit<Target, "shard"> & { shard?: string };

/** The database that --shard names, or all. */
export async function chosenDatabases({ shard, ...target }: ShardArguments): Promise<Database[]> {
  const number = shardNumber(shard);
  return number === undefined ? boundDatabases(target) : theseDatabases(target, [number]);
}

export function shardNumber(shard: string | undefined): number | undefined {
  if (shard !== undefined && !/^\d{1,5}$/.test(shard))
    throw new Error(`--shard: ${shard} must be the number of a database, such as 1`);
  return shard === undefined ? undefined : Number(shard);
}

/** Shows which of several databases is worked on. They are in the order of the work. */
export function sayWhich(databases: Database[], { shard }: Database) {
  if (databases.length > 1)
    process.stderr.write(
      `Shard ${shard}, ${databases.findIndex((each) => each.shard === shard) + 1} of ${databases.length}\n`,
    );
}
