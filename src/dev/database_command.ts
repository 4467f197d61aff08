import { type ParseArgsConfig, parseArgs } from "node:util";
import { type Target, targetOptions } from "./wrangler.ts";

const TARGET_USAGE = `  --remote             the database in production; if left out, the local one
  --persist-to FOLDER  where the local one is, if not in .wrangler/state
  --config FILE, -c    wrangler's configuration; wrangler.toml if left out
  --env NAME, -e       the environment in it
  --help, -h           shows this
`;

type Options = NonNullable<ParseArgsConfig["options"]>;

type Values<Own extends Options> = ReturnType<typeof parseArgs<{ options: Own }>>["values"];

/**
 * Runs a command of package.json on the database that its arguments name. An error is shown without its stack, and makes
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
    if (help) process.stdout.write(`${usage.trimStart()}${TARGET_USAGE}`);
    else run(values as Target & Values<Own>);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
