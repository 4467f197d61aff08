import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** What is wrong with the arguments. The program prints how it is used. */
export class UsageError extends Error {}

/** @throws UsageError for arguments that are none of the options */
export function readOptions<const Options extends ParseArgsOptionsConfig>(
  options: Options,
  args = process.argv.slice(2),
) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    // The advice that follows the first sentence is about positional arguments, of which there are none.
    throw new UsageError(`${(error as Error).message.split(/\.\s/)[0]}.`);
  }
}
