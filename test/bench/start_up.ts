/** What an isolate loads before it answers: the bundle as it is deployed, ours and the floor's. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { runWrangler } from "../../src/dev/wrangler.ts";
import { quantile } from "./measurement.ts";

export interface StartUp {
  /** Bytes, compressed. */
  size: number;
  /** Milliseconds of CPU to load it in a fresh process, beyond an empty module. */
  cpu: number;
}

/** Prints the microseconds of CPU that the import alone took. */
const IMPORT = `const before = process.cpuUsage();
  await import(process.argv[1]);
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(String(user + system));`;

export function measureStartUp(times: number): { ours: StartUp; floor: StartUp } {
  const folder = mkdtempSync(join(tmpdir(), "bench-bundle-"));
  try {
    const bundles = {
      ours: bundle("src/index.ts", join(folder, "ours")),
      floor: bundle("test/bench/floor.ts", join(folder, "floor")),
    };
    const empty = join(folder, "empty.js");
    writeFileSync(empty, "export default {};");
    const used = { ours: [] as number[], floor: [] as number[], empty: [] as number[] };
    for (let turn = 0; turn < times; turn++) {
      used.ours.push(cpuOfImport(bundles.ours));
      used.floor.push(cpuOfImport(bundles.floor));
      used.empty.push(cpuOfImport(empty));
    }
    const beyondEmpty = (name: "ours" | "floor") => ({
      size: gzipSync(readFileSync(bundles[name])).length,
      cpu: quantile(used[name], 0.5) - quantile(used.empty, 0.5),
    });
    return { ours: beyondEmpty("ours"), floor: beyondEmpty("floor") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns the file that wrangler would upload */
function bundle(entry: string, outdir: string): string {
  runWrangler(["deploy", entry, "--dry-run", "--minify", "--outdir", outdir]);
  const built = join(outdir, entry.replace(/^.*\/|\.ts$/g, ""));
  // Node takes a .js file of a folder without package.json for CommonJS.
  writeFileSync(`${built}.mjs`, readFileSync(`${built}.js`));
  return `${built}.mjs`;
}

function cpuOfImport(file: string): number {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", IMPORT, pathToFileURL(file).href],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`The bundle cannot be loaded: ${stderr}`);
  return Number(stdout) / 1000;
}
