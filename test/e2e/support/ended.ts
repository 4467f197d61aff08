import { expect } from "vitest";

type Command = Promise<{ code: number | null; output: string }>;

/** What a command wrote that did what it was asked to do. */
export const done = (command: Command) => outputOfCode(0, command);

/** What a command wrote that has refused that. */
export const refused = (command: Command) => outputOfCode(1, command);

async function outputOfCode(expected: number, command: Command): Promise<string> {
  const { code, output } = await command;
  expect(code, output).toBe(expected);
  return output;
}
