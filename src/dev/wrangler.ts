/**
 * Runs wrangler's commands with the Node that runs this, because Windows cannot start `node_modules/.bin/wrangler`
 * without a shell.
 */
import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";

const script = () => {
  const manifest = createRequire(import.meta.url).resolve("wrangler/package.json");
  return join(dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin.wrangler);
};

interface WranglerOptions extends Pick<SpawnOptions, "env" | "stdio"> {
  /** Can it print rows of the database? Then only its error is shown. */
  handlesData?: boolean;
}

/**
 * Runs wrangler to its end.
 *
 * @returns what it wrote to stdout
 * @throws Error if it fails, with all that it wrote, or only with its error if it handles data
 */
export async function runWrangler(
  args: string[],
  { handlesData, ...options }: WranglerOptions = {},
): Promise<string> {
  // Without a terminal, wrangler asks nothing.
  const child = startWrangler(args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text) => (stderr += text));
  const [code] = await once(child, "close");
  if (code === 0) return stdout;
  const output = stdout + stderr;
  throw new Error(`\`wrangler ${wordsOf(args)}\` failed. ${handlesData ? errorWithoutData(output) : output}`);
}

export const startWrangler = (args: string[], options: SpawnOptions) =>
  spawn(process.execPath, [script(), ...args], options);

/** The words of a command, without what they are about. */
const wordsOf = (args: string[]) =>
  args.slice(0, args[0] === "deploy" || args[0] === "dev" ? 1 : 2).join(" ");

/** Long enough for an error of SQLite or D1. */
const MAX_ERROR_LENGTH = 300;

/** Statements, tables of rows, and results as JSON. */
const DATA = /\b(INSERT|UPDATE|DELETE|SELECT|VALUES)\b|^\s*[│┌├└(]|"results"/;

/** The error that wrangler printed, from where it begins up to the first line that holds data: that may be health data. */
export function errorWithoutData(output: string): string {
  const plain = stripVTControlCharacters(output);
  const lines = plain.slice(Math.max(0, plain.search(/\S*\s*\[ERROR\]|"error"/))).split("\n");
  const firstOfData = lines.findIndex((line) => DATA.test(line));
  const shown = firstOfData < 0 ? lines : lines.slice(0, firstOfData);
  return shown.join("\n").trim().slice(0, MAX_ERROR_LENGTH);
}

/** Where this machine's databases are, if nothing else is said. wrangler would look for them beside its configuration. */
export const LOCAL_STATE = ".wrangler/state";

/** The flags of wrangler that say which database is meant. */
export const targetOptions = {
  local: { type: "boolean" },
  remote: { type: "boolean" },
  "persist-to": { type: "string" },
  config: { type: "string", short: "c", default: "wrangler.toml" },
  env: { type: "string", short: "e" },
} as const;

export interface Target {
  /** The number of the database; 0 if left out. */
  shard?: number;
  local?: boolean;
  remote?: boolean;
  "persist-to"?: string;
  config: string;
  env?: string;
}

/** The first database is `DB`, the others are `DB_1`, `DB_2` and so on: see src/database/shards.ts. */
export const bindingOf = (shard = 0): string => (shard === 0 ? "DB" : `DB_${shard}`);

/** The flags that have a value. */
export const flagsOf = (values: Record<string, string | undefined>): string[] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));

/** Without them, wrangler would read another configuration, and take another account. */
export const configFlags = ({ config, env }: Target) => flagsOf({ config, env });

/** Without --remote, the local database is meant. */
export const targetFlags = (target: Target): string[] => [
  target.remote ? "--remote" : "--local",
  ...flagsOf({ "persist-to": target["persist-to"] ?? (target.remote ? undefined : LOCAL_STATE) }),
  ...configFlags(target),
];

/** What a command that is advised gets, so that it is about the same databases: ` -- --remote --env staging`, or nothing. */
export function sameTarget(target: Target, { withRemote = true } = {}): string {
  const { remote, config, env, "persist-to": folder } = target;
  const given = [
    ...(withRemote ? [remote && "--remote"] : [!remote && "--local"]),
    config !== targetOptions.config.default && `--config ${config}`,
    env && `--env ${env}`,
    folder && `--persist-to ${folder}`,
  ].filter(Boolean);
  return given.length > 0 ? ` -- ${given.join(" ")}` : "";
}
