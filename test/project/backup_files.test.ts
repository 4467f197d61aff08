import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { filesToRestore, requireComplete, requireNoBackup } from "../../src/dev/backup_files.ts";

/** The path of `b.sql` in a folder that has these files. */
function aBackup(...files: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "backups-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of files) writeFileSync(join(folder, file), "");
  return join(folder, "b.sql");
}

describe("filesToRestore", () => {
  it("finds one file, or a file for each database in the order of their numbers", () => {
    const one = aBackup("b.sql", "b.sql.old", "other.sql.0");
    expect([...filesToRestore(one, undefined)]).toEqual([[0, one]]);
    expect([...filesToRestore(one, 3)]).toEqual([[3, one]]);
    const several = aBackup("b.sql.10", "b.sql.0", "b.sql.2");
    expect([...filesToRestore(several, undefined)]).toEqual(
      [0, 2, 10].map((shard) => [shard, `${several}.${shard}`]),
    );
    // A single file is an older backup.
    const older = aBackup("b.sql", "b.sql.0", "b.sql.1");
    expect([...filesToRestore(older, 3)]).toEqual([[3, older]]);
    expect(() => filesToRestore(older, undefined)).toThrow("two backups");
  });

  it("requires the file of the first database, which knows the others", () => {
    expect(() => filesToRestore(aBackup("b.sql.1"), undefined)).toThrow(/file .*b\.sql\.0 is missing/);
    expect(() => requireComplete(aBackup())).toThrow("There is no file");
  });
});

it("requireNoBackup refuses the name of an existing backup", () => {
  expect(() => requireNoBackup(aBackup("b.sql.md"))).not.toThrow();
  for (const file of ["b.sql", "b.sql.0", "b.sql.3"])
    expect(() => requireNoBackup(aBackup(file))).toThrow(
      `${file} exists: a backup does not overwrite an older one.`,
    );
});
