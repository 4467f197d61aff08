import { createInterface } from "node:readline";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/**
 * Asks a question on the terminal. The answer can also come from a pipe.
 *
 * @returns an empty text without an answer
 */
export async function answerTo(question: string): Promise<string> {
  process.stdout.write(question);
  const lines = createInterface({ input: process.stdin });
  const { value: answer = "" } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  return answer.trim();
}

export function say(line: string) {
  process.stdout.write(`${line}\n`);
}

/** @throws Error unless the answer is yes */
export async function requireYes(question: string, otherwise: string) {
  if (!/^y(es)?$/i.test(await answerTo(`${question} (y/N) `))) throw new Error(otherwise);
}

/** An error in the arguments. The command prints it with its usage. */
export class UsageError extends Error {}

export type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options }>
>["values"];

/**
 * Runs a command of package.json.
 *
 * @param usage the text for `--help`: the command's syntax, and a line for each argument
 */
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

/**
 * Parses the arguments of a command. With `--help` or wrong arguments, ends the process.
 *
 * @param usage as in `runCommand`
 */
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
