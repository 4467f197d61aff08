import { closeSync, openSync, renameSync, rmSync, writeSync } from "node:fs";

/**
 * Writes lines with secrets, names or health data. From its first byte, only the file's owner can read it. It gets its name when it
 * is complete, which replaces a link of that name instead of following it.
 */
export async function writePrivateFile(file: string, lines: Iterable<string> | AsyncIterable<string>) {
  // .gitignore has this ending.
  const unfinished = `${file}.${crypto.randomUUID()}.partial`;
  const descriptor = openSync(unfinished, "wx", 0o600);
  try {
    for await (const line of lines) writeSync(descriptor, `${line}\n`);
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}
