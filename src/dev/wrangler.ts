/** Runs wrangler with the current Node.js, because Windows cannot start `node_modules/.bin/wrangler` without a shell. */
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
  /** Whether it can print rows of the database. If so, a failure shows only its error, without data. */
  handlesData?: boolean;
  input?: string;
}

/** Returns wrangler's stdout. If wrangler fails, throws an error with all its output, or with only its error if `handlesData`. */
export async function runWrangler(
  args: string[],
  { handlesData, input, ...options }: WranglerOptions = {},
): Promise<string> {
  // Without a terminal, wrangler asks nothing.
  const child = startWrangler(args, {
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    ...options,
  });
  child.stdin?.end(input);
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

const wordsOf = (args: string[]) =>
  args.slice(0, args[0] === "deploy" || args[0] === "dev" ? 1 : 2).join(" ");

/** In characters: long enough for an error of SQLite or D1. */
const MAX_ERROR_LENGTH = 300;

const DATA = /\b(INSERT|UPDATE|DELETE|SELECT|VALUES)\b|^\s*[│┌├└(]|"results"/;

/** Extracts the error from wrangler's output, up to the first line with data, which may be health data. */
export function errorWithoutData(output: string): string {
  const plain = stripVTControlCharacters(output);
  const lines = plain.slice(Math.max(0, plain.search(/\S*\s*\[ERROR\]|"error"/))).split("\n");
  const firstOfData = lines.findIndex((line) => DATA.test(line));
  const shown = firstOfData < 0 ? lines : lines.slice(0, firstOfData);
  return shown.join("\n").trim().slice(0, MAX_ERROR_LENGTH);
}

/** The default folder of the local databases. wrangler's own default is relative to its configuration. */
export const LOCAL_STATE = ".wrangler/state";

export const targetOptions = {
  local: { type: "boolean" },
  remote: { type: "boolean" },
  "persist-to": { type: "string" },
  config: { type: "string", short: "c", default: "wrangler.toml" },
  env: { type: "string", short: "e" },
} as const;

export interface Target {
  shard?: number;
  local?: boolean;
  remote?: boolean;
  "persist-to"?: string;
  config: string;
  env?: string;
}

/** The first database is `DB`, the others are `DB_1`, `DB_2` and so on: see src/database/shards.ts. */
export const bindingOf = (shard = 0): string => (shard === 0 ? "DB" : `DB_${shard}`);

export const flagsOf = (values: Record<string, string | undefined>): string[] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));

/** Without these flags, wrangler would read another configuration and use another account. */
export const configFlags = ({ config, env }: Target) => flagsOf({ config, env });

export const targetFlags = (target: Target): string[] => [
  target.remote ? "--remote" : "--local",
  ...flagsOf({ "persist-to": target["persist-to"] ?? (target.remote ? undefined : LOCAL_STATE) }),
  ...configFlags(target),
];

/** The flags for a suggested command of wrangler, so that it uses the same configuration: ` --env staging`, or an empty string. */
export const sameConfig = ({ config, env }: Target): string =>
  flagsOf({ config: config === targetOptions.config.default ? undefined : config, env })
    .map((each) => ` ${each}`)
    .join("");

/** The arguments for a suggested command, so that it uses the same databases: ` -- --remote --env staging`, or an empty string. */
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
