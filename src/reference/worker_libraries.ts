import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Files } from "./site/site.ts";

/*
 * Smaller versions of two libraries for the Worker's bundle, which wrangler.toml names. They work in the same way.
 *
 * - zod's schemas refer to its JSON Schema generator and its English error texts, so bundlers include both. Only the build generates
 *   JSON Schemas. Its `z.string()` has a method for each format, such as `email`, beside `z.email()`, which the service uses. Without
 *   the three, the compressed Worker is 6 % smaller.
 * - transliterate lists each letter with its replacement. Grouped, and without the letters whose accent it would remove anyway, they make
 *   the compressed Worker 2 % smaller.
 */

const folderOf = (library: string) => dirname(fileURLToPath(import.meta.resolve(library)));

const ZOD = folderOf("zod");

const MANIFEST = JSON.stringify({ type: "module", main: "index.js", sideEffects: false });

const LEFT_OUT = ["v4/core/to-json-schema.js", "v4/core/json-schema-processors.js"];

const SCHEMAS = "v4/classic/schemas.js";

/** The methods of `z.string()` that check a format. */
export const FORMAT_METHODS =
  /^ {4}(\w+)\(params\) \{\n {8}return this\.check\(core\._\w+\(Zod\w+, params\)\);\n {4}\},\n/gm;

/** zod's error texts. The service has its own, in each schema or in http/validation.ts. */
const TEXTS = "v4/locales/en.js";

/** zod's modules, by their paths in the package. The modules in `LEFT_OUT` keep their functions, but each throws. */
export async function workerZod(): Promise<Files> {
  const files: Files = new Map<string, string | Buffer>([
    ["package.json", MANIFEST],
    ["index.js", await readFile(join(ZOD, "index.js"))],
  ]);
  for (const entry of await readdir(join(ZOD, "v4"), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.name.endsWith(".js")) files.set(relative(ZOD, path), await readFile(path));
  }
  for (const path of LEFT_OUT) files.set(join(path), await withoutBodies(path));
  files.set(join(SCHEMAS), (await readFile(join(ZOD, SCHEMAS), "utf8")).replace(FORMAT_METHODS, ""));
  files.set(join(TEXTS), "export default () => ({ localeError: () => 'is not valid' });\n");
  return files;
}

async function withoutBodies(path: string): Promise<string> {
  const names = Object.keys(await import(pathToFileURL(join(ZOD, path)).href));
  const none = 'const none = () => { throw new Error("The Worker cannot generate JSON Schemas"); };\n';
  return `${none}export { ${names.map((name) => `none as ${name}`).join(", ")} };\n`;
}

export async function workerTransliterate(): Promise<Files> {
  const { default: all }: { default: Map<string, string> } = await import(
    pathToFileURL(join(TRANSLITERATE, REPLACEMENTS)).href
  );
  const needed = [...all].filter(([letter, ascii]) => letter.length > 1 || withoutAccent(letter) !== ascii);
  const lines = [...Map.groupBy(needed, ([, ascii]) => ascii)].map(([ascii, its]) =>
    [ascii, ...its.map(([letter]) => letter)].join(" "),
  );
  return new Map<string, string | Buffer>([
    ["package.json", MANIFEST],
    ["index.js", await readFile(join(TRANSLITERATE, "index.js"))],
    ["locale-replacements.js", "export default {};\n"],
    [
      REPLACEMENTS,
      `export default new Map(${JSON.stringify(lines.join("\n"))}.split("\\n").flatMap((line) => {
  const [ascii, ...letters] = line.split(" ");
  return letters.map((letter) => [letter, ascii]);
}));
`,
    ],
  ]);
}

const TRANSLITERATE = folderOf("@sindresorhus/transliterate");

const REPLACEMENTS = "replacements.js";

/** As the library itself removes accents, after it has replaced letters. */
const withoutAccent = (letter: string) =>
  letter
    .normalize("NFD")
    .replaceAll(/\p{Diacritic}/gu, "")
    .normalize();
