/**
 * The migrations in `drizzle`, as the commands that write them and the tests see them. Paths are relative to the
 * project's folder, in which npm runs scripts.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

/**
 * The digest of each migration, in the format of `sha256sum`. The first deployment makes this file: until then a change of
 * the schema makes the one migration anew, and from then on migrations are only added.
 */
export const DIGESTS = "drizzle/SHA256SUMS";

/** Where the service has the name of the newest migration. */
export const MIGRATED = "src/database/migrated.ts";

export const NEWEST_MIGRATION = /(NEWEST_MIGRATION = )"(.*)"/;

/** Between statements, as drizzle-kit writes it. */
const BREAKPOINT = "\n--> statement-breakpoint\n";

/** Git on Windows may check files out with CRLF. */
export const readText = (path: string): string => readFileSync(path, "utf8").replaceAll("\r\n", "\n");

export const isDeployed = (): boolean => existsSync(DIGESTS);

export const migrationFiles = (): string[] =>
  readdirSync("drizzle")
    .filter((file) => file.endsWith(".sql"))
    .sort();

/**
 * An empty database in memory with all migrations, each in a transaction, as D1 applies them. Like D1, it refuses more
 * than five terms in a compound SELECT: SQLite itself takes 500.
 */
export function migratedDatabase(): DatabaseSync {
  const database = new DatabaseSync(":memory:", { limits: { compoundSelect: 5 } });
  for (const file of migrationFiles())
    try {
      database.exec(`BEGIN; ${readText(`drizzle/${file}`)}\n; COMMIT;`);
    } catch (error) {
      throw new Error(`The migration ${file} fails: ${(error as Error).message}.`, { cause: error });
    }
  return database;
}

/** Runs `drizzle-kit generate` and returns the names of the migrations that it made: one or none. */
export function generate(flags: string[], output: "inherit" | "pipe"): string[] {
  const before = new Set(migrationFiles());
  const drizzleKit = join(dirname(fileURLToPath(import.meta.resolve("drizzle-kit"))), "bin.cjs");
  // Its questions (is a column new or renamed?) need the terminal.
  const { status, stdout, stderr } = spawnSync(process.execPath, [drizzleKit, "generate", ...flags], {
    encoding: "utf8",
    stdio: ["inherit", output, output],
  });
  if (status !== 0) throw new Error(`drizzle-kit generate failed. ${stdout ?? ""}${stderr ?? ""}`);
  const made = migrationFiles().filter((file) => !before.has(file));
  for (const file of made) noteNewest(file);
  return made;
}

/** Tells the service which migration is the newest. */
export function noteNewest(file: string) {
  writeFileSync(
    MIGRATED,
    readText(MIGRATED).replace(NEWEST_MIGRATION, (_, name) => `${name}"${file}"`),
  );
}

/**
 * With the pragma that works in a transaction: keys may be broken until each new table has taken its place. A new
 * table goes on with the old one's ids, so that the id of a deleted row does not come back.
 */
export const fitForD1 = (migration: string): string[] => [
  "PRAGMA defer_foreign_keys=ON;",
  migration
    .replace(/^PRAGMA foreign_keys=\w+;(--> statement-breakpoint)?\n?/gm, "")
    .replace(
      /^INSERT INTO `(__new_(\w+))`.*\n/gm,
      (copy, created, name) =>
        `${copy}DELETE FROM sqlite_sequence WHERE name = '${created}';${BREAKPOINT}` +
        `INSERT INTO sqlite_sequence SELECT '${created}', seq FROM sqlite_sequence WHERE name = '${name}';${BREAKPOINT}`,
    ),
  "PRAGMA defer_foreign_keys=OFF;",
];

export function writeMigration(file: string, statements: string[]) {
  // SQLite takes a name in double quotes that names nothing for a text; drizzle-kit writes those of constraints so.
  const migration = statements.join(BREAKPOINT).replace(/CONSTRAINT "(\w+)"/g, "CONSTRAINT `$1`");
  writeFileSync(`drizzle/${file}`, `${migration}\n`);
  if (isDeployed()) recordDigests();
}

/** Writes down the digests of the migrations that have none yet: of an edited one, a test says so. */
export function recordDigests() {
  const recorded = isDeployed() ? readText(DIGESTS) : "";
  const added = migrationFiles().filter((file) => !recorded.includes(`  ${file}\n`));
  writeFileSync(DIGESTS, recorded + added.map((file) => `${digestLine(file)}\n`).join(""));
}

/** For commands that add a migration. */
export function requireDeployed() {
  if (!isDeployed())
    throw new Error("Nothing is deployed yet: `npm run db:baseline` makes the one migration anew.");
}

/** A line of DIGESTS. */
export function digestLine(file: string): string {
  return `${sha256(readText(`drizzle/${file}`))}  ${file}`;
}

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
