/** The parts that the commands share. */
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import type { ClientSettings } from "./settings.ts";

/** An error in the arguments. The program prints it with the command's usage. */
export class UsageError extends Error {}

export const credentialsWith = (scope: string): string =>
  `Set the environment variables CLIENT_ID and CLIENT_SECRET to the credentials of a client with
  role: organization_admin
  scope: ${scope}, if it has scopes at all
They are not arguments, because your shell keeps a history.`;

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export const count = (number: number, one: string, several: string): string =>
  `${number.toLocaleString("en-US")} ${number === 1 ? one : several}`;

/** An option with a value. */
export const TEXT = { type: "string" } as const;

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options }>
>["values"];

export function valuesOf<const Options extends ParseArgsOptionsConfig>(
  args: string[],
  options: Options,
): Values<Options> {
  try {
    return parseArgs({ args, options }).values as Values<Options>;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

export function settingsFor(url: string | undefined): ClientSettings {
  if (!url) throw new UsageError("--url must be the address of the service.");
  const { CLIENT_ID, CLIENT_SECRET } = process.env;
  if (!CLIENT_ID || !CLIENT_SECRET)
    throw new UsageError("Set the environment variables CLIENT_ID and CLIENT_SECRET.");
  return { baseUrl: url, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
}

/** fetch puts the reason of a failed connection in the error's cause. */
export function causeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, message } = (error.cause ?? error) as { code?: string; message?: string };
  return code ?? message;
}
