import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { writePrivateFile } from "../../src/dev/private_file.ts";

function aFolder() {
  const folder = mkdtempSync(join(tmpdir(), "private-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it("writes a file that only its owner can read, even while it is incomplete, and does not follow a link", async () => {
  const folder = aFolder();
  const [file, other] = [join(folder, "production.secrets"), join(folder, "readable")];
  writeFileSync(other, "other");
  symlinkSync(other, file);
  const modes: [string, number][] = [];
  await writePrivateFile(
    file,
    (function* () {
      yield "A=1";
      for (const name of readdirSync(folder))
        if (name.endsWith(".partial")) modes.push(["partial", modeOf(join(folder, name))]);
      yield "B=2";
    })(),
  );
  expect(modes).toEqual([["partial", 0o600]]);
  expect(modeOf(file)).toBe(0o600);
  expect([file, other].map((each) => readFileSync(each, "utf8"))).toEqual(["A=1\nB=2\n", "other"]);
  expect(readdirSync(folder).sort()).toEqual(["production.secrets", "readable"]);
});

it("leaves nothing behind if the lines fail, and replaces no complete file", async () => {
  const folder = aFolder();
  const file = join(folder, "b.sql");
  writeFileSync(file, "complete");
  const failing = (async function* () {
    yield "half";
    throw new Error("no database");
  })();
  await expect(writePrivateFile(file, failing)).rejects.toThrow("no database");
  expect(readdirSync(folder)).toEqual(["b.sql"]);
  expect(readFileSync(file, "utf8")).toBe("complete");
});

it("is for files that git ignores in every folder", () => {
  const ignored = readFileSync(".gitignore", "utf8").split("\n");
  for (const files of ["*.secrets", "access-log-of-*.ndjson", "*.sql", "*.curl", "*.partial"])
    expect(ignored).toContain(files);
});

const modeOf = (file: string) => statSync(file).mode & 0o777;
