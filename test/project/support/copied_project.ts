import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";

/** A folder with these files of the project, in which commands may write. */
export function aCopyOf(...paths: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "project-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const path of paths) cpSync(path, join(folder, path), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"), "junction");
  return folder;
}

/** wrangler.toml without the environments that an operator has added. */
export const shippedConfiguration = (): string =>
  readFileSync("wrangler.toml", "utf8")
    .split(/^(?=\[)/m)
    .filter((section) => !/^\[+env\./.test(section))
    .join("");
