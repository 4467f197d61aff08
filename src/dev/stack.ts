/**
 * `npm run stack`: reads lines of the log, and writes them with the places in `src` that their stacks mean. The log has
 * places in the minified bundle, because Cloudflare applies a source map only to an error that nobody catches.
 */
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { requireArguments } from "./command.ts";
import { runWrangler } from "./wrangler.ts";

/** Beside the sources: a path from one drive to another could not be relative. */
const BUNDLE = "dist/bundle";
/** As in `at nA (index.js:77:9303)`. */
const PLACE = /[^\s"(]*\bindex\.js:(\d+):(\d+)/g;

requireArguments(
  `
Usage: npm run stack < lines of the log

Writes the lines with the places in src that their stacks mean.
`,
  {},
);
process.stderr.write(
  "Paste lines of the log. The version that wrote them must be checked out and installed.\n",
);
// The same sources make the same bundle, byte for byte.
await runWrangler(["deploy", "--dry-run", "--outdir", BUNDLE]);
const map = new SourceMap(JSON.parse(readFileSync(join(BUNDLE, "index.js.map"), "utf8")));
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(
    `${line.replace(PLACE, (place, row, column) => sourceOf(Number(row), Number(column)) ?? place)}\n`,
  );

/** Undefined where the bundle has no such place. The map counts from 0. */
function sourceOf(row: number, column: number): string | undefined {
  const entry = map.findEntry(row - 1, column - 1);
  if (!("originalSource" in entry) || entry.generatedLine !== row - 1) return undefined;
  const file = relative("", resolve(BUNDLE, entry.originalSource)).replaceAll("\\", "/");
  return `${file}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}
