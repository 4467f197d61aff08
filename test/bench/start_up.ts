import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runWrangler } from "../../src/dev/wrangler.ts";
import { median } from "./statistics.ts";

/** Prints the microseconds of CPU that only the import took. */
const IMPORT = `const before = process.cpuUsage();
  await import(process.argv[1]);
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(String(user + system));`;

/** The milliseconds of CPU to load the deployed bundle in a new process, beyond an empty module. */
export async function measureStartUp(times: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "bench-bundle-"));
  try {
    const empty = join(folder, "empty.mjs");
    writeFileSync(empty, "export default {};");
    await runWrangler(["deploy", "--dry-run", "--outdir", folder]);
    // Node treats a .js file in a folder without package.json as CommonJS.
    const bundle = join(folder, "index.mjs");
    copyFileSync(join(folder, "index.js"), bundle);
    const files = [empty, bundle];
    const used: number[][] = files.map(() => []);
    for (let turn = 0; turn < times; turn++)
      for (const [n, file] of files.entries()) used[n]?.push(cpuOfImport(file));
    const [beforehand = 0, ours = 0] = used.map(median);
    return ours - beforehand;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function cpuOfImport(file: string): number {
  const args = ["--input-type=module", "-e", IMPORT, pathToFileURL(file).href];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`The bundle cannot be loaded: ${stderr}`);
  return Number(stdout) / 1000;
}
