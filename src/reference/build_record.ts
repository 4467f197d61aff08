/** Records the inputs and outputs of the last build, so that the next build can skip its work. */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLIENTS, DEVELOPMENT_ASSETS, PUBLIC_ASSETS, WORKER_TRANSLITERATE, WORKER_ZOD } from "./assets.ts";

/** Uses the lockfile in `node_modules`, which lists the installed packages; the other one lists the wanted packages. */
export const INPUTS = [
  "src",
  "package.json",
  "node_modules/.package-lock.json",
  "tsconfig.json",
  "wrangler.toml",
  ".dev.vars.example",
];
const OUTPUTS = [PUBLIC_ASSETS, DEVELOPMENT_ASSETS, CLIENTS, WORKER_ZOD, WORKER_TRANSLITERATE];

const RECORD = "dist/build.txt";

/** Generates unless neither inputs nor outputs have changed. A build with the SDK also counts as a build without it. */
export async function unlessBuilt(withSdk: boolean, generate: () => Promise<void>) {
  const inputs = digestOfFiles(INPUTS);
  const last = existsSync(RECORD) ? readFileSync(RECORD, "utf8") : "";
  if (last === recordOf(inputs, true) || (!withSdk && last === recordOf(inputs, false))) return;
  await generate();
  // If a file was saved during the build, it is unknown which version was read.
  if (digestOfFiles(INPUTS) === inputs) writeFileSync(RECORD, recordOf(inputs, withSdk));
}

const recordOf = (inputs: string, withSdk: boolean) =>
  `read ${inputs} for ${process.env.CLOUDFLARE_ENV ?? "production"} ${process.env.DEVELOPMENT_URL ?? ""}\nleft ${digestOfFiles(OUTPUTS)}\n${withSdk ? "with" : "without"} SDK\n`;

function digestOfFiles(paths: string[]): string {
  const hash = createHash("sha256");
  try {
    for (const file of paths.filter((path) => existsSync(path)).flatMap(filesIn)) {
      const content = readFileSync(file);
      hash.update(`${file}\0${content.length}\0`).update(content);
    }
    return hash.digest("hex");
  } catch {
    // Another build is deleting files: return a value that matches no digest.
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
