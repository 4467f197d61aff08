/** `npm run stack`: maps positions in logged stack traces to `src`, because Cloudflare does so only for uncaught errors. */
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { runCommand } from "./command.ts";
import { runWrangler } from "./wrangler.ts";

/** On the same drive as the sources, so that the paths between them can be relative. */
const BUNDLE = "dist/bundle";
/** For example in `at nA (index.js:77:9303)`. */
const PLACE = /[^\s"(]*\bindex\.js:(\d+):(\d+)/g;

const USAGE = `
Usage: npm run stack < FILE

Reads log lines, and writes them with the positions in their stack traces mapped to src.
`;

await runCommand(USAGE, {}, async () => {
  process.stderr.write("Paste log lines. The version that wrote them must be checked out and installed.\n");
  // The bundle is reproducible: equal sources give equal bytes.
  await runWrangler(["deploy", "--dry-run", "--outdir", BUNDLE]);
  const map = new SourceMap(JSON.parse(readFileSync(join(BUNDLE, "index.js.map"), "utf8")));
  for await (const line of createInterface({ input: process.stdin }))
    process.stdout.write(
      `${line.replace(PLACE, (place, row, column) => sourceOf(map, Number(row), Number(column)) ?? place)}\n`,
    );
});

/** Returns undefined if the bundle has no such position. The map counts lines and columns from 0. */
function sourceOf(map: SourceMap, row: number, column: number): string | undefined {
  const entry = map.findEntry(row - 1, column - 1);
  if (!("originalSource" in entry) || entry.generatedLine !== row - 1) return undefined;
  const file = relative("", resolve(BUNDLE, entry.originalSource)).replaceAll("\\", "/");
  return `${file}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}
