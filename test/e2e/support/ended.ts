import { expect } from "vitest";

type Command = Promise<{ code: number | null; output: string }>;

/** Returns the output of a command that must succeed. */
export const done = (command: Command) => outputOfCode(0, command);

/** Returns the output of a command that must fail with exit code 1. */
export const refused = (command: Command) => outputOfCode(1, command);

async function outputOfCode(expected: number, command: Command): Promise<string> {
  const { code, output } = await command;
  expect(code, output).toBe(expected);
  return output;
}
