import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { RANGE } from "../../src/database/shards.ts";
import { withLocalBindings } from "../../src/dev/local_bindings.ts";
import { applyMigrations } from "../../src/dev/local_database.ts";
import { migrationFiles } from "../../src/dev/migrations.ts";
import { runWith } from "../../src/dev/statement_runner.ts";
import { runWrangler } from "../../src/dev/wrangler.ts";
import { openDatabase, withDatabases } from "../e2e/support/local_databases.ts";

let folder: string;
let persistTo: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "local-database-"));
  persistTo = join(folder, "ours");
  expect(await migrateOurs()).toEqual(migrationFiles());
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const migrateOurs = () => withLocalBindings({ persistTo }, (env) => applyMigrations(runWith(env)));

const rowsIn = (state: string, query: string) => {
  const database = openDatabase(state);
  try {
    return database.prepare(query).all();
  } finally {
    database.close();
  }
};

const appliedMigrations = (state: string) =>
  rowsIn(state, "SELECT id, name, typeof(applied_at) AS applied_at FROM d1_migrations");

const schemaOf = (state: string) => rowsIn(state, "SELECT type, name, sql FROM sqlite_schema");

const migrationsOf = (state: string, command: "apply" | "list") =>
  runWrangler(["d1", "migrations", command, "DB", "--local", "--persist-to", state]);

/** Runs `npm run dev`, which does everything before the server starts, then fails on a value that wrangler does not know. */
function dev(...flags: string[]) {
  const args = ["src/dev/serve.ts", "--persist-to", persistTo, "--local-protocol", "nosuch", ...flags];
  return spawnSync(process.execPath, args, { encoding: "utf8" });
}

const REFUSED = 'Given: "nosuch"';

describe("The local database", () => {
  it("is migrated once, as by wrangler's own command, which then finds nothing to do", async () => {
    const wranglers = join(folder, "wranglers");
    await migrationsOf(wranglers, "apply");
    const applied = appliedMigrations(persistTo);
    expect(applied).toEqual(appliedMigrations(wranglers));
    expect(applied).toHaveLength(migrationFiles().length);
    expect(schemaOf(persistTo)).toEqual(schemaOf(wranglers));
    expect(await migrationsOf(persistTo, "list")).toContain("No migrations to apply");
    expect(await migrateOurs()).toEqual([]);
    expect(appliedMigrations(persistTo)).toEqual(applied);
  });

  it("stops `npm run dev` if it has another schema, until it is deleted", () => {
    rowsIn(persistTo, "UPDATE d1_migrations SET name = '0000_baseline_0f0f0f0f.sql'");
    rowsIn(persistTo, "CREATE TABLE other (id)");
    const refused = dev();
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^[^\n]* another schema\. Delete [^\n]*v3\/d1 in that folder[^\n]*\n$/);
    expect(schemaOf(persistTo)).toContainEqual(expect.objectContaining({ name: "other" }));

    rmSync(join(persistTo, "v3", "d1"), { recursive: true });
    expect(dev().stderr).toContain(REFUSED);
    expect(appliedMigrations(persistTo).map(({ name }) => name)).toEqual(migrationFiles());
  });

  it("gets more databases with --shards, each with its own ids, without changing the configuration", () => {
    const before = readFileSync("wrangler.toml", "utf8");
    const state = join(folder, "several");
    const devWith = (count: string) => dev("--persist-to", state, "--shards", count).stderr;
    expect(devWith("0")).toMatch(/^--shards: 0 must be a number from 1 to 100\n/);
    expect(existsSync(state)).toBe(false);
    expect(devWith("3")).toContain(REFUSED);
    withDatabases(state, (databases) => {
      expect([...databases.keys()]).toEqual([0, 1, 2]);
      const [directory, , last] = databases.values();
      expect(directory?.prepare("select shard, range from shards").all()).toEqual([
        { shard: 1, range: 1 },
        { shard: 2, range: 2 },
      ]);
      expect(last?.prepare("select seq from sqlite_sequence where name = 'calls'").get()).toEqual({
        seq: 2 * RANGE,
      });
    });
    expect(readFileSync("wrangler.toml", "utf8")).toBe(before);
  });
});
