import { type ParseArgsConfig, parseArgs } from "node:util";

/**
 * Splits the arguments of a command that passes others on to wrangler.
 *
 * @returns the values of these options, and a function that leaves options out, with their values
 */
export function readFlags<Options extends NonNullable<ParseArgsConfig["options"]>>(
  options: Options,
  args = process.argv.slice(2),
) {
  const { values, tokens } = parseArgs({
    args,
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  return {
    values,
    without(...names: (keyof Options)[]): string[] {
      const left_out = tokens.flatMap((token) => {
        if (token.kind !== "option" || !names.includes(token.name)) return [];
        return token.value === undefined || token.inlineValue
          ? [token.index]
          : [token.index, token.index + 1];
      });
      return args.filter((_, index) => !left_out.includes(index));
    },
  };
}
