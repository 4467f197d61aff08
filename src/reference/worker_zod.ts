import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Files } from "./site/site.ts";

/*
 * zod for the deployed Worker, which wrangler.toml names. zod's schemas refer to what makes JSON Schemas of them, and to texts in
 * English, so no bundler leaves these out. Only the build makes any: without them, the compressed Worker is smaller by a twentieth.
 */

const ZOD = dirname(fileURLToPath(import.meta.resolve("zod")));

/** zod's modules that make JSON Schemas. */
const LEFT_OUT = ["v4/core/to-json-schema.js", "v4/core/json-schema-processors.js"];

/** Its texts of faults. Ours say what would be right: each schema has its own, or http/validation.ts. */
const TEXTS = "v4/locales/en.js";

/** Its modules, by their paths in the package. Of those that are left out, each function throws. */
export async function workerZod(): Promise<Files> {
  const files: Files = new Map<string, string | Buffer>([
    ["package.json", JSON.stringify({ type: "module", main: "index.js", sideEffects: false })],
    ["index.js", await readFile(join(ZOD, "index.js"))],
  ]);
  for (const entry of await readdir(join(ZOD, "v4"), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.name.endsWith(".js")) files.set(relative(ZOD, path), await readFile(path));
  }
  for (const path of LEFT_OUT) files.set(join(path), await withoutBodies(path));
  files.set(join(TEXTS), "export default () => ({ localeError: () => 'is not valid' });\n");
  return files;
}

async function withoutBodies(path: string): Promise<string> {
  const names = Object.keys(await import(pathToFileURL(join(ZOD, path)).href));
  const none = 'const none = () => { throw new Error("The Worker makes no JSON Schemas"); };\n';
  return `${none}export { ${names.map((name) => `none as ${name}`).join(", ")} };\n`;
}
