import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { bindingOf, type Target } from "./wrangler.ts";

type Configuration = Pick<Target, "config" | "env">;

/** The numbers of the bound databases, in ascending order. Always includes the first: wrangler itself reports it if it is missing. */
export const boundShards = (configuration: Configuration): number[] =>
  shardsIn(readConfiguration(configuration));

export function shardsIn({ d1_databases }: WranglerConfiguration): number[] {
  const others = d1_databases
    .flatMap(({ binding }) => /^DB_([1-9]\d*)$/.exec(binding)?.[1] ?? [])
    .map(Number);
  return [0, ...others].sort((a, b) => a - b);
}

/** A database as it is bound, or as `shards:add` would bind it. */
export function databaseIn(configuration: Configuration, shard: number) {
  const { d1_databases, name = "database" } = readConfiguration(configuration);
  const boundTo = (binding: string) => d1_databases.find((each) => each.binding === binding);
  const binding = bindingOf(shard);
  const { database_name = name, migrations_dir = "migrations" } = boundTo("DB") ?? {};
  return { database_name: `${database_name}-${shard}`, migrations_dir, ...boundTo(binding), binding };
}

export const databaseName = (configuration: Configuration, shard: number): string =>
  databaseIn(configuration, shard).database_name;

/** The part of the configuration that the commands read. wrangler's declarations do not export its type. */
export interface WranglerConfiguration {
  name?: string;
  account_id?: string;
  definedEnvironments: string[];
  d1_databases: { binding: string; database_name?: string; database_id?: string; migrations_dir?: string }[];
  r2_buckets: { binding: string; bucket_name: string; jurisdiction?: string }[];
  queues: {
    producers: { binding: string; queue: string }[];
    consumers: { queue: string }[];
  };
  send_email: object[];
  ratelimits: { namespace_id: string }[];
  vars: Record<string, unknown>;
  routes?: unknown[];
  placement?: object;
}

/** Loads wrangler only here, because that takes a second. */
export function readConfiguration({ config, env }: Configuration): WranglerConfiguration {
  const { unstable_readConfig }: typeof import("wrangler") = createRequire(import.meta.url)("wrangler");
  return unstable_readConfig({ config, env }, { hideWarnings: true }) as unknown as WranglerConfiguration;
}

/** Every command must call this first: for an unknown environment, wrangler would only warn, and use the first one. */
export function requireEnvironment({ config, env }: Configuration) {
  if (env !== undefined && !readConfiguration({ config }).definedEnvironments.includes(env))
    throw new Error(`${config} has no environment ${env}`);
}

/** @throws Error unless a database can be appended: the file must be TOML, and must not list its databases in an array */
export function requireExtensible(config: string) {
  if (config.endsWith(".toml") && !/^\s*d1_databases\s*=/m.test(readFileSync(config, "utf8"))) return;
  throw new Error(
    `${config} must be a TOML file, with each of its databases under a line [[d1_databases]], not in an array, so that ` +
      "another one can be added.",
  );
}

function textWith(configuration: Configuration, shards: number[]): string {
  const { config, env } = configuration;
  requireExtensible(config);
  const table = `${env === undefined ? "" : `env.${JSON.stringify(env)}.`}d1_databases`;
  const added = shards.map((shard) => {
    const { binding, database_name, migrations_dir } = databaseIn(configuration, shard);
    return `\n[[${table}]]\nbinding = "${binding}"\ndatabase_name = "${database_name}"\nmigrations_dir = ${JSON.stringify(migrations_dir)}\n`;
  });
  return `${readFileSync(config, "utf8").trimEnd()}\n${added.join("")}`;
}

/** Adds a database to the configuration, unless another command has just added it. */
export function bindDatabase(configuration: Configuration, shard: number) {
  if (boundShards(configuration).includes(shard)) return;
  writeFileSync(configuration.config, textWith(configuration, [shard]));
}

/** Writes a copy that binds at least `count` databases, in the same folder, to which paths are relative. Returns its path. */
export function configurationOf(
  count: number,
  configuration: Configuration,
  name = `.wrangler-${count}.toml`,
): string {
  const bound = boundShards(configuration);
  const missing = [...Array(count).keys()].filter((shard) => !bound.includes(shard));
  const path = join(dirname(configuration.config), name);
  writeFileSync(path, textWith(configuration, missing));
  return path;
}
