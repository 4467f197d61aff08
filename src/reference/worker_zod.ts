import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Files } from "./site/site.ts";

/*
 * A smaller version of zod for the Worker's bundle, which wrangler.toml names. zod's schemas refer to its JSON Schema generator and
 * its English error texts, so bundlers include both. Only the build generates JSON Schemas. Without the two, the compressed Worker
 * is 5 % smaller.
 */

const ZOD = dirname(fileURLToPath(import.meta.resolve("zod")));

const LEFT_OUT = ["v4/core/to-json-schema.js", "v4/core/json-schema-processors.js"];

/** zod's error texts. The service has its own, in each schema or in http/validation.ts. */
const TEXTS = "v4/locales/en.js";

/** zod's modules, by their paths in the package. The modules in `LEFT_OUT` keep their functions, but each throws. */
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
  const none = 'const none = () => { throw new Error("The Worker cannot generate JSON Schemas"); };\n';
  return `${none}export { ${names.map((name) => `none as ${name}`).join(", ")} };\n`;
}
