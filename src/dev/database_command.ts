import type { ParseArgsOptionsConfig } from "node:util";
import { runCommand, type Values } from "./command.ts";
import { boundDatabases, type Database, theseDatabases } from "./databases.ts";
import { closingDatabases } from "./statement_runner.ts";
import { type Target, targetOptions } from "./wrangler.ts";
import { requireEnvironment } from "./wrangler_config.ts";

const PLACE_USAGE = {
  local: "  --remote             uses the database in production instead of the local one\n",
  remote: "  --local              uses the local databases instead of those in production\n",
};

const TARGET_USAGE = `  --persist-to FOLDER  the folder of the local data; .wrangler/state by default
  --config FILE, -c    wrangler's configuration file; wrangler.toml by default
  --env NAME, -e       the environment in that file
  --help, -h           shows this help
`;

/** @param place the databases that the command works on without --remote or --local */
export async function runDatabaseCommand<const Own extends ParseArgsOptionsConfig>(
  usage: string,
  options: Own,
  run: (values: Target & Values<Own>) => unknown,
  place: keyof typeof PLACE_USAGE = "local",
) {
  const all = { ...options, ...targetOptions };
  await runCommand(usage + PLACE_USAGE[place] + TARGET_USAGE, all, (values) => {
    const target = values as Target & Values<Own>;
    if (place === "remote") target.remote = !target.local;
    requireEnvironment(target);
    return closingDatabases(() => run(target));
  });
}

export const shardOption = { shard: { type: "string" } } as const;

export const SHARD_USAGE = `  --shard N            only the database with this number, if there are several
`;

/** The arguments of a command, with `--shard` still a string. */
export type ShardArguments = Omit<Target, "shard"> & { shard?: string };

/** The database that `--shard` names, or all databases. */
export async function chosenDatabases({ shard, ...target }: ShardArguments): Promise<Database[]> {
  const number = shardNumber(shard);
  return number === undefined ? boundDatabases(target) : theseDatabases(target, [number]);
}

export function organizationId(organization: string | undefined): number {
  if (!/^[1-9]\d{0,15}$/.test(organization ?? "")) throw new Error("Add --organization with an id");
  return Number(organization);
}

export function shardNumber(shard: string | undefined): number | undefined {
  if (shard !== undefined && !/^\d{1,5}$/.test(shard))
    throw new Error(`--shard: ${shard} must be the number of a database, such as 1`);
  return shard === undefined ? undefined : Number(shard);
}
