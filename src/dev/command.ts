import { createInterface } from "node:readline";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

export function say(line: string) {
  process.stdout.write(`${line}\n`);
}

/** The options of every command that changes production: see `mayChange`. */
export const consentOptions = { "dry-run": { type: "boolean" }, yes: { type: "boolean" } } as const;

export const CONSENT_USAGE = `  --dry-run            shows what it would do, and changes nothing
  --yes                does not ask
`;

export interface Consent {
  "dry-run"?: boolean | undefined;
  yes?: boolean | undefined;
  /** Whether to ask at all. A change on this machine is only shown. */
  remote?: boolean | undefined;
}

/**
 * Every command that changes production calls this before its first change.
 *
 * @returns false for a dry run, which must change nothing
 * @throws Error without the answer that agrees, or without a terminal to ask in
 */
export async function mayChange(
  plan: string[],
  { "dry-run": isDry, yes, remote }: Consent,
  { question = "Do it? (y/N) ", agrees = /^y(es)?$/i } = {},
): Promise<boolean> {
  say("To do:");
  for (const step of plan) say(`  ${step}`);
  if (isDry) return false;
  if (yes || !remote) return true;
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new Error("Nothing was changed: there is no terminal to ask in. Add --yes to carry out the plan.");
  const lines = createInterface({ input: process.stdin });
  process.stdout.write(`\n${question}`);
  const { value: answer = "" } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  if (!agrees.test(answer.trim())) throw new Error("Nothing was changed.");
  return true;
}

/** An error in the arguments. The command prints it with its usage. */
export class UsageError extends Error {}

export type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options }>
>["values"];

/** @param usage the text for `--help`: the command's syntax, and a line for each argument */
export async function runCommand<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  run: (values: Values<Options>) => unknown,
): Promise<void> {
  const { values } = requireArguments(usage, options);
  await endingWith(usage, async () => run(values));
}

/** Prints an error of a command without its stack, and an error in its arguments with its usage. */
export const endingWith = (usage: string, run: () => Promise<unknown>): Promise<void> =>
  run().then(
    () => {},
    (error: Error) => {
      process.exitCode = 1;
      process.stderr.write(`${error.message}\n${error instanceof UsageError ? usage : ""}`);
    },
  );

/** Ends the process with `--help` or wrong arguments. */
export function requireArguments<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  { allowPositionals = false } = {},
): { values: Values<Options>; positionals: string[] } {
  const args = process.argv.slice(2);
  try {
    requireSeparator(args, options);
    const all: ParseArgsOptionsConfig = { ...options, help: HELP };
    const { values, positionals } = parseArgs({ args, options: all, allowPositionals });
    if (!values.help) return { values: values as Values<Options>, positionals };
    process.stdout.write(usage.trimStart());
    process.exit(0);
  } catch (error) {
    // Only the first sentence: the rest is advice about positional arguments, which most commands do not take.
    const [fault] = (error as Error).message.split(/\.\s/);
    process.stderr.write(`${error instanceof UsageError ? error.message : `${fault}.`}\n${usage}`);
    process.exit(1);
  }
}

const HELP = { type: "boolean", short: "h" } as const;

/** Options that the user may have set for npm itself. */
const NPMS_OWN = ["yes", "message", "tag", "help"];

/** npm takes the options before `--` for itself: without this check, a dry run would become a deployment. */
function requireSeparator(args: string[], options: ParseArgsOptionsConfig) {
  const { npm_lifecycle_event: script = "" } = process.env;
  const kept = Object.keys(options).filter(
    (name) => !NPMS_OWN.includes(name) && process.env[`npm_config_${name.replaceAll("-", "_")}`],
  );
  const [name] = kept.filter((each) => !args.some((arg) => arg.split("=")[0] === `--${each}`));
  if (name)
    throw new UsageError(`npm has taken --${name} for itself: write \`npm run ${script} -- --${name} …\`.`);
}
