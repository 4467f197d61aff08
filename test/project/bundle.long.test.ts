import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { sourceFiles } from "../../src/dev/migrations.ts";
import { runWrangler } from "../../src/dev/wrangler.ts";
import { WORKER_TRANSLITERATE } from "../../src/reference/assets.ts";
import { FORMAT_METHODS } from "../../src/reference/worker_libraries.ts";

/** In kilobytes. A Worker loads its bundle before its first response. */
const LIMIT = 184;

let folder: string;
let output: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "bundle-"));
  // Builds what `npm run deploy` uploads, with the same flags: none.
  output = await runWrangler(["deploy", "--dry-run", "--outdir", folder]);
  return () => rmSync(folder, { recursive: true });
});

function run(args: string[], input = "") {
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8", input });
  expect(status, stderr).toBe(0);
  return stdout;
}

describe("The deployed bundle", () => {
  it(`stays under ${LIMIT} KB, compressed`, () => {
    const [, unit, size] = /gzip: (?=[\d.]+ (\w+))([\d.]+)/.exec(output) ?? [];
    expect(unit).toBe("KiB");
    expect(Number(size)).toBeGreaterThan(0);
    expect(Number(size) * 1.024).toBeLessThan(LIMIT);
  });

  it("turns every name into the same slug as the whole library", async () => {
    const { default: whole } = await import("@sindresorhus/transliterate");
    const { default: small } = await import(pathToFileURL(`${WORKER_TRANSLITERATE}/index.js`).href);
    const replaced = "node_modules/@sindresorhus/transliterate/replacements.js";
    const { default: letters } = await import(pathToFileURL(replaced).href);
    const characters = Array.from({ length: 0x20000 }, (_, code) => String.fromCodePoint(code));
    const pairs = characters.map((first, n) => first + characters[(n * 7919) % 0x3000]);
    expect([...letters.keys(), ...pairs].filter((text) => small(text) !== whole(text))).toEqual([]);
  });

  it("uses no method of z.string() that the Worker's zod lacks", () => {
    const schemas = readFileSync("node_modules/zod/v4/classic/schemas.js", "utf8");
    const methods = [...schemas.matchAll(FORMAT_METHODS)].map(([, name]) => name);
    expect(methods).toContain("email");
    const used = new RegExp(`\\bstring\\([^;]*?\\)\\s*\\.(${methods.join("|")})\\(`);
    for (const file of sourceFiles(".ts").filter((name) => !/^src\/(client|dev|reference)\//.test(name)))
      expect(readFileSync(file, "utf8"), file).not.toMatch(used);
  });

  it("builds the slug patterns, which have 1,657 alternatives, only for the first slug", () => {
    // Node treats a .js file in a folder without package.json as CommonJS.
    const bundle = join(folder, "index.mjs");
    copyFileSync(join(folder, "index.js"), bundle);
    const longest = run([
      "--input-type=module",
      "--eval",
      `let longest = 0;
      globalThis.RegExp = new Proxy(RegExp, { construct(target, [source, flags]) {
        longest = Math.max(longest, String(source).length);
        return new target(source, flags);
      } });
      await import(${JSON.stringify(pathToFileURL(bundle).href)});
      console.log(longest);`,
    ]);
    expect(Number(longest)).toBeGreaterThan(0);
    expect(Number(longest)).toBeLessThan(2000);
  });

  it("has stacks in the log whose sources `npm run stack` finds", () => {
    const file = "src/http/health.ts";
    const text = '"settings_at_fault"';
    const [row, column] = placeOf(text, readFileSync(join(folder, "index.js"), "utf8"));
    const [line] = placeOf(`notReady(${text}, names)`, readFileSync(file, "utf8"));
    const entry = (place: string) =>
      JSON.stringify({ event: "fault", causes: [{ stack: [`    at nA (${place})`, "    at <anonymous>"] }] });
    const found = run(["src/dev/stack.ts"], `${entry(`index.js:${row}:${column}`)}\nanother line\n`);
    const [first = "", second] = found.split("\n");
    expect(first.replace(/(health\.ts:\d+):\d+/, "$1")).toBe(entry(`${file}:${line}`));
    expect(second).toBe("another line");
  });
});

/** The row and column of a text that occurs once, both from 1. */
function placeOf(text: string, content: string): [row: number, column: number] {
  const [before = "", ...after] = content.split(text);
  expect(after, text).toHaveLength(1);
  const rows = before.split("\n");
  return [rows.length, (rows.at(-1)?.length ?? 0) + 1];
}
