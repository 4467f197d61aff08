import { type ParseArgsConfig, parseArgs } from "node:util";
import { allDatabases, type Database, oneDatabase } from "./databases.ts";
import { type Target, targetOptions } from "./wrangler.ts";
import { boundShards } from "./wrangler_config.ts";

const TARGET_USAGE = `  --remote             the database in production; if left out, the local one
  --persist-to FOLDER  where the local one is, if not in .wrangler/state
  --config FILE, -c    wrangler's configuration; wrangler.toml if left out
  --env NAME, -e       the environment in it
  --help, -h           shows this
`;

/** Only for those who have several databases. */
const SHARD_USAGE = `  --shard N            only the database with this number; if left out, all of them
`;

type Options = NonNullable<ParseArgsConfig["options"]>;

type Values<Own extends Options> = ReturnType<typeof parseArgs<{ options: Own }>>["values"];

/**
 * Runs a command of package.json on the databases that its arguments name. An error is shown without its stack, and makes
 * the command fail.
 *
 * @param usage a line on how the command is written, and one for each argument of its own
 */
export function runDatabaseCommand<Own extends Options>(
  usage: string,
  options: Own,
  run: (values: Target & Values<Own>) => void,
): void {
  try {
    const all = { ...options, ...targetOptions, help: { type: "boolean", short: "h" } } as const;
    const { help, ...values } = parseArgs({ options: all }).values as { help?: boolean };
    if (help)
      process.stdout.write(`${usage.trimStart()}${shardUsage(options, values as Target)}${TARGET_USAGE}`);
    else run(values as Target & Values<Own>);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

const shardUsage = (options: Options, target: Target) =>
  "shard" in options && boundShards(target).length > 1 ? SHARD_USAGE : "";

/** For a command that can work on one of several databases. */
export const shardOption = { shard: { type: "string" } } as const;

/** The target without the argument, which is a text. */
export type ShardArguments = Omit<Target, "shard"> & { shard?: string };

/** The database that --shard names, or all. */
export function chosenDatabases({ shard, ...target }: ShardArguments): Database[] {
  const number = shardNumber(shard);
  return number === undefined ? allDatabases(target) : oneDatabase(target, number);
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
