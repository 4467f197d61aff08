import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runWrangler } from "../../src/dev/wrangler.ts";

/** In kilobytes. A Worker loads its bundle before its first response. */
const LIMIT = 130;

it(`The Worker's bundle stays under ${LIMIT} KB, compressed`, () => {
  const outdir = mkdtempSync(join(tmpdir(), "bundle-"));
  onTestFinished(() => rmSync(outdir, { recursive: true }));
  const output = runWrangler(["deploy", "--dry-run", "--minify", "--outdir", outdir]);
  const [, unit, size] = /gzip: (?=[\d.]+ (\w+))([\d.]+)/.exec(output) ?? [];
  expect(unit).toBe("KiB");
  expect(Number(size)).toBeGreaterThan(0);
  expect(Number(size) * 1.024).toBeLessThan(LIMIT);
});
