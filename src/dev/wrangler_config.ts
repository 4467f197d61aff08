/** wrangler's configuration: which databases it binds, and how another one is added to its text. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { bindingOf, type Target } from "./wrangler.ts";

type Configuration = Pick<Target, "config" | "env">;

/**
 * The numbers of the databases that the configuration binds, in ascending order. Where the first is missing, wrangler says
 * it.
 */
export function boundShards(configuration: Configuration): number[] {
  const others = databasesIn(configuration)
    .flatMap(({ binding }) => /^DB_([1-9]\d*)$/.exec(binding)?.[1] ?? [])
    .map(Number);
  return [0, ...others].sort((a, b) => a - b);
}

/** The name of a database at Cloudflare: that of the configuration, or else one that is made of the first database's. */
export function databaseName(configuration: Configuration, shard: number): string {
  const nameOf = (number: number) => databaseIn(configuration, number)?.database_name;
  return nameOf(shard) ?? `${nameOf(0) ?? read(configuration).name ?? "database"}-${shard}`;
}

/** Whether the configuration says which database it is: then its name may be another one. */
export const hasDatabaseId = (configuration: Configuration, shard: number): boolean =>
  databaseIn(configuration, shard)?.database_id !== undefined;

/** What we read of a database: wrangler's own type is lost in its declarations. */
interface DatabaseOfConfig {
  binding: string;
  database_name?: string;
  database_id?: string;
  migrations_dir?: string;
}

/** Loads wrangler when it is needed, which takes a second. */
function read({ config, env }: Configuration) {
  const { unstable_readConfig }: typeof import("wrangler") = createRequire(import.meta.url)("wrangler");
  return unstable_readConfig({ config, env }, { hideWarnings: true });
}

const databasesIn = (configuration: Configuration): DatabaseOfConfig[] => read(configuration).d1_databases;

const databaseIn = (configuration: Configuration, shard: number) =>
  databasesIn(configuration).find(({ binding }) => binding === bindingOf(shard));

/** As the configuration has it for the first database: relative to its folder. */
export const migrationsOf = (configuration: Configuration): string =>
  databaseIn(configuration, 0)?.migrations_dir ?? "migrations";

/** Where wrangler keeps local data: beside its configuration, unless it is told otherwise. */
export const stateOf = (target: Target): string =>
  resolve(target["persist-to"] ?? join(dirname(target.config), ".wrangler/state"));

/** @throws Error unless the file is TOML */
export function requireToml(config: string) {
  if (!config.endsWith(".toml"))
    throw new Error(`${config} must be a file of TOML: this command adds a database to it.`);
}

/** What the configuration says of a database. */
export function databaseBlock(
  env: string | undefined,
  shard: number,
  name: string,
  migrations: string,
): string {
  return `${headerOf(env)}
binding = "${bindingOf(shard)}"
database_name = "${name}"
migrations_dir = ${JSON.stringify(migrations)}
`;
}

/** Adds a database to the configuration, unless another command has done it meanwhile. */
export function bindDatabase(configuration: Configuration, shard: number, name: string) {
  const { config, env } = configuration;
  if (boundShards(configuration).includes(shard)) return;
  const block = databaseBlock(env, shard, name, migrationsOf(configuration));
  writeFileSync(config, withDatabase(readFileSync(config, "utf8"), env, block));
}

/** @throws Error if its databases are written in a way to which none can be added */
export const requireTomlTables = ({ config, env }: Configuration) =>
  withDatabase(readFileSync(config, "utf8"), env, "");

const headerOf = (env: string | undefined) =>
  `[[${env === undefined ? "" : `env.${/^[\w-]+$/.test(env) ? env : JSON.stringify(env)}.`}d1_databases]]`;

/** The same header in any of the ways to write it: with spaces and quotes, and a comment behind it. */
const asHeader = (line: string) => line.replace(/\s*(#.*)?$/, "").replace(/["'\s]/g, "");

/**
 * The text with another database after those that it has. Nothing else changes: comments stay where they are.
 *
 * @throws Error if it has no database that is written as we write one
 */
export function withDatabase(toml: string, env: string | undefined, block: string): string {
  const lines = toml.split(/\r?\n/);
  const header = lines.findLastIndex((line) => asHeader(line) === asHeader(headerOf(env)));
  if (header < 0)
    throw new Error(
      `The configuration has no line ${headerOf(env)}. Write each of its databases under such a line, not in an array: ` +
        "another one is added after them.",
    );
  const next = lines.findIndex((line, n) => n > header && /^\s*\[/.test(line));
  const body = lines.slice(0, next < 0 ? lines.length : next);
  // A comment above the next header is about that.
  const last = body.findLastIndex((line) => /^\s*[^#\s]/.test(line));
  return [...lines.slice(0, last + 1), "", ...block.trimEnd().split("\n"), ...lines.slice(last + 1)].join(
    toml.includes("\r\n") ? "\r\n" : "\n",
  );
}
