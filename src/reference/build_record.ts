/** What the last build read and left: with it, the next one can see that there is nothing to do. */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLIENTS, DEVELOPMENT_ASSETS, PUBLIC_ASSETS, WORKER_ZOD } from "./assets.ts";

/** The lockfile in `node_modules` says what is installed; the other one, what should be. */
export const INPUTS = [
  "src",
  "package.json",
  "node_modules/.package-lock.json",
  "tsconfig.json",
  "wrangler.toml",
  ".dev.vars.example",
];
const OUTPUTS = [PUBLIC_ASSETS, DEVELOPMENT_ASSETS, CLIENTS, WORKER_ZOD];

const RECORD = "dist/build.txt";

/** Generates, unless the last build has read and left the same. An SDK more makes no difference. */
export async function unlessBuilt(withSdk: boolean, generate: () => Promise<void>) {
  const inputs = digestOfFiles(INPUTS);
  const last = existsSync(RECORD) ? readFileSync(RECORD, "utf8") : "";
  if (last === recordOf(inputs, true) || (!withSdk && last === recordOf(inputs, false))) return;
  await generate();
  // If a file was saved meanwhile, nobody knows which of its versions was read.
  if (digestOfFiles(INPUTS) === inputs) writeFileSync(RECORD, recordOf(inputs, withSdk));
}

const recordOf = (inputs: string, withSdk: boolean) =>
  `read ${inputs} for ${process.env.CLOUDFLARE_ENV ?? "production"}\nleft ${digestOfFiles(OUTPUTS)}\n${withSdk ? "with" : "without"} SDK\n`;

/** Of the names and contents of files, and of all files in folders. */
function digestOfFiles(paths: string[]): string {
  const hash = createHash("sha256");
  try {
    for (const file of paths.filter((path) => existsSync(path)).flatMap(filesIn)) {
      const content = readFileSync(file);
      hash.update(`${file}\0${content.length}\0`).update(content);
    }
    return hash.digest("hex");
  } catch {
    // Another build deletes files at this moment: nothing else has the digest of that.
    return randomUUID();
  }
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
