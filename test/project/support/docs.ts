import { readdirSync, readFileSync } from "node:fs";

export const DOCS = "src/docs";

export function pagesOfOperators() {
  return readdirSync(DOCS).filter((file) => file.endsWith(".md"));
}

/** The pages for operators and developers, by path. */
export const pages = new Map(
  [
    "README.md",
    "src/README.md",
    "test/bench/README.md",
    ...pagesOfOperators().map((file) => `${DOCS}/${file}`),
  ].map((file) => [file, readFileSync(file, "utf8")]),
);

export const withoutCode = (text: string) => text.replace(/^ *```[\s\S]*?^ *```/gm, "");

/** Every command of a page, in a block or in the text, without its comment. */
function* commandsIn(text: string): Generator<string> {
  for (const [, block = ""] of text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm))
    for (const line of block.split("\n")) yield* line.replace(/ {2,}#.*/, "").split(/ && | \|/);
  for (const [, code = ""] of withoutCode(text).matchAll(/`([^`\n]+)`/g)) yield code;
}

export const commandsInDocs = [...pages.values()]
  .flatMap((text) => [...commandsIn(text)])
  .map((command) => command.trim());

export const flagsIn = (command: string) =>
  [...command.matchAll(/ (--[a-z][\w-]*)/g)].map(([, flag = ""]) => flag).filter((flag) => flag !== "--help");
