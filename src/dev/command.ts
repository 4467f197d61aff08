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
    const { help, ...values } = parse(args, { ...options, help: { type: "boolean", short: "h" } });
    if (help) process.stdout.write(usage.trimStart());
    else await run(values as Values<Options>);
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${error instanceof UsageError ? usage : ""}`);
    return 1;
  }
}

function parse(args: string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    // The advice that follows the first sentence is about positional arguments, of which there are none.
    throw new UsageError(`${(error as Error).message.split(/\.\s/)[0]}.`);
  }
}
