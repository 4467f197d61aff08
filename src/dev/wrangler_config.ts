/** wrangler's configuration: which databases it binds, and how another one is added to its text. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { bindingOf, type Target } from "./wrangler.ts";

type Configuration = Pick<Target, "config" | "env">;

/**
 * The numbers of the databases that the configuration binds, in ascending order. Where the first is missing, wrangler says
 * it.
 */
export function boundShards(configuration: Configuration): number[] {
  const others = readConfiguration(configuration)
    .d1_databases.flatMap(({ binding }) => /^DB_([1-9]\d*)$/.exec(binding)?.[1] ?? [])
    .map(Number);
  return [0, ...others].sort((a, b) => a - b);
}

/** The name of a database at Cloudflare: that of the configuration, or else one that is made of the first database's. */
export function databaseName(configuration: Configuration, shard: number): string {
  const nameOf = (number: number) => databaseIn(configuration, number)?.database_name;
  return nameOf(shard) ?? `${nameOf(0) ?? readConfiguration(configuration).name ?? "database"}-${shard}`;
}

/** The id, if the configuration says which database it is: then its name may be another one. */
export const databaseId = (configuration: Configuration, shard: number): string | undefined =>
  databaseIn(configuration, shard)?.database_id;

/** What commands read of a configuration. wrangler's own types are lost in its declarations. */
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
}

/** Loads wrangler when it is needed, which takes a second. */
export function readConfiguration({ config, env }: Configuration): WranglerConfiguration {
  const { unstable_readConfig }: typeof import("wrangler") = createRequire(import.meta.url)("wrangler");
  return unstable_readConfig({ config, env }, { hideWarnings: true }) as unknown as WranglerConfiguration;
}

/** The names of the environments beside the first one, which has none. */
export const environmentsIn = (config: string): string[] => readConfiguration({ config }).definedEnvironments;

/**
 * Every command asks this before it does anything.
 *
 * @throws Error for a name that the configuration does not have: wrangler would take the first environment, and only warn
 */
export function requireEnvironment({ config, env }: Configuration) {
  if (env !== undefined && !environmentsIn(config).includes(env))
    throw new Error(`${config} has no environment ${env}`);
}

const databaseIn = (configuration: Configuration, shard: number) =>
  readConfiguration(configuration).d1_databases.find(({ binding }) => binding === bindingOf(shard));

/** @throws Error unless another database can be added to the file's end: in TOML, and not where they stand in an array */
export function requireExtensible(config: string) {
  if (config.endsWith(".toml") && !/^\s*d1_databases\s*=/m.test(readFileSync(config, "utf8"))) return;
  throw new Error(
    `${config} must be a file of TOML, with each of its databases under a line [[d1_databases]], not in an array: ` +
      "another one is added.",
  );
}

/** The text of a configuration with more databases. */
function textWith(configuration: Configuration, shards: number[]): string {
  const { config, env } = configuration;
  requireExtensible(config);
  const table = `${env === undefined ? "" : `env.${JSON.stringify(env)}.`}d1_databases`;
  const migrations = databaseIn(configuration, 0)?.migrations_dir ?? "migrations";
  const added = shards.map(
    (shard) => `
[[${table}]]
binding = "${bindingOf(shard)}"
database_name = "${databaseName(configuration, shard)}"
migrations_dir = ${JSON.stringify(migrations)}
`,
  );
  return `${readFileSync(config, "utf8").trimEnd()}\n${added.join("")}`;
}

/** Adds a database to the configuration, unless another command has done it meanwhile. */
export function bindDatabase(configuration: Configuration, shard: number) {
  if (boundShards(configuration).includes(shard)) return;
  writeFileSync(configuration.config, textWith(configuration, [shard]));
}

/**
 * Writes a configuration that binds at least so many databases, beside the one that it is made of, whose paths are relative to it.
 *
 * @returns its path
 */
export function configurationOf(
  count: number,
  configuration: Configuration,
  name = `.wrangler-${count}.toml`,
): string {
  const bound = boundShards(configuration);
  const missing = Array.from({ length: count }, (_, shard) => shard).filter(
    (shard) => !bound.includes(shard),
  );
  const path = join(dirname(configuration.config), name);
  writeFileSync(path, textWith(configuration, missing));
  return path;
}
