import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** What is wrong with the arguments. After it, the command shows how it is used. */
export class UsageError extends Error {}

export type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options }>
>["values"];

/**
 * Runs a command of package.json. An error is shown without its stack.
 *
 * @param usage how the command is written, and a line for each argument
 * @returns the exit code
 */
export async function runCommand<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  run: (values: Values<Options>) => unknown,
  args = process.argv.slice(2),
): Promise<number> {
  try {
    const { help, ...values } = parsed(args, { ...options, help: HELP }).values;
    if (help) process.stdout.write(usage.trimStart());
    else await run(values as Values<Options>);
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${error instanceof UsageError ? usage : ""}`);
    return 1;
  }
}

/**
 * The arguments of a command that runs from its first line to its last. With --help, or with wrong ones, it ends here.
 *
 * @param usage as that of `runCommand`
 */
export function requireArguments<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  { allowPositionals = false } = {},
): { values: Values<Options>; positionals: string[] } {
  try {
    const args = process.argv.slice(2);
    const { values, positionals } = parsed(args, { ...options, help: HELP }, allowPositionals);
    if (!values.help) return { values: values as Values<Options>, positionals };
    process.stdout.write(usage.trimStart());
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}`);
    process.exit(1);
  }
}

const HELP = { type: "boolean", short: "h" } as const;

function parsed(args: string[], options: ParseArgsOptionsConfig, allowPositionals = false) {
  try {
    return parseArgs({ args, options, allowPositionals });
  } catch (error) {
    // The advice that follows the first sentence is about positional arguments, of which there are none.
    throw new UsageError(`${(error as Error).message.split(/\.\s/)[0]}.`);
  }
}
