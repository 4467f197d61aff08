/**
 * The migrations in `drizzle`, as the commands that write them and the tests see them. Paths are relative to the
 * project's folder, in which npm runs scripts.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/**
 * The digest of each migration, in the format of `sha256sum`. The first deployment makes this file: until then a change of
 * the schema makes the one migration anew, and from then on migrations are only added.
 */
export const DIGESTS = "drizzle/SHA256SUMS";

/** The tables as the newest migration leaves them, as drizzle-kit describes them. */
export const SNAPSHOT = "drizzle/meta/snapshot.json";

/** Where the service has the name of the newest migration. */
export const MIGRATED = "src/database/migrated.ts";

export const NEWEST_MIGRATION = /(NEWEST_MIGRATION = )"(.*)"/;

/** Git on Windows may check files out with CRLF. */
export const readText = (path: string): string => readFileSync(path, "utf8").replaceAll("\r\n", "\n");

export const isDeployed = (): boolean => existsSync(DIGESTS);

export const migrationFiles = (): string[] =>
  readdirSync("drizzle")
    .filter((file) => file.endsWith(".sql"))
    .sort();

/** Like D1, it refuses more than five terms in a compound SELECT: SQLite itself takes 500. */
export const emptyDatabase = () => new DatabaseSync(":memory:", { limits: { compoundSelect: 5 } });

/** An empty database in memory with all migrations, each in a transaction, as D1 applies them. */
export function migratedDatabase(): DatabaseSync {
  const database = emptyDatabase();
  for (const file of migrationFiles())
    try {
      database.exec(`BEGIN; ${readText(`drizzle/${file}`)}\n; COMMIT;`);
    } catch (error) {
      throw new Error(`The migration ${file} fails: ${(error as Error).message}.`, { cause: error });
    }
  return database;
}

/** Writes a migration, and tells the service that it is the newest. */
export function writeMigration(file: string, statements: string[], snapshot: object) {
  writeFileSync(`drizzle/${file}`, `${statements.join("\n--> statement-breakpoint\n")}\n`);
  writeFileSync(SNAPSHOT, `${JSON.stringify(snapshot, null, 2)}\n`);
  writeFileSync(MIGRATED, readText(MIGRATED).replace(NEWEST_MIGRATION, `$1"${file}"`));
  process.stdout.write(`Wrote drizzle/${file}.\n`);
}

/** A line of DIGESTS. */
export const digestLine = (file: string): string => `${hexDigest(readText(`drizzle/${file}`))}  ${file}`;

export const hexDigest = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Writes down the digests of the migrations that have none yet: what a database has run stays as it is. If one is edited later,
 * a test says so.
 */
export function recordMigrations() {
  const recorded = isDeployed() ? readText(DIGESTS) : "";
  const added = migrationFiles().filter((file) => !recorded.includes(`  ${file}\n`));
  if (added.length === 0) return;
  writeFileSync(DIGESTS, recorded + added.map((file) => `${digestLine(file)}\n`).join(""));
  process.stdout.write(`Wrote ${DIGESTS}: commit it. From now on migrations are only added.\n`);
}
