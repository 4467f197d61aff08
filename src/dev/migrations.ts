/** Reads and writes the migrations in `drizzle`. Paths are relative to the project's folder, where npm runs scripts. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/**
 * The digest of each migration, in the format of `sha256sum`. The first deployment creates this file. Before that, a change of
 * the schema replaces the only migration; afterwards, migrations are only added.
 */
export const DIGESTS = "drizzle/SHA256SUMS";

/** drizzle-kit's description of the tables after the newest migration. */
export const SNAPSHOT = "drizzle/meta/snapshot.json";

/** The source file with the name of the newest migration, for the service. */
export const MIGRATED = "src/database/migrated.ts";

export const NEWEST_MIGRATION = /(NEWEST_MIGRATION = )"(.*)"/;

/** Git on Windows may check files out with CRLF. */
export const readText = (path: string): string => readFileSync(path, "utf8").replaceAll("\r\n", "\n");

/** The files of src with the ending, such as `.table.ts`, in order. */
export const sourceFiles = (ending: string): string[] =>
  readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .map((file) => `src/${file.replaceAll("\\", "/")}`)
    .sort();

export const isDeployed = (): boolean => existsSync(DIGESTS);

export const migrationFiles = (): string[] =>
  readdirSync("drizzle")
    .filter((file) => file.endsWith(".sql"))
    .sort();

/** Like D1, accepts at most five terms in a compound SELECT. SQLite's default is 500. */
export const emptyDatabase = () => new DatabaseSync(":memory:", { limits: { compoundSelect: 5 } });

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

export function writeMigration(file: string, statements: string[], snapshot: object) {
  writeFileSync(`drizzle/${file}`, `${statements.join("\n--> statement-breakpoint\n")}\n`);
  writeFileSync(SNAPSHOT, `${JSON.stringify(snapshot, null, 2)}\n`);
  writeFileSync(MIGRATED, readText(MIGRATED).replace(NEWEST_MIGRATION, `$1"${file}"`));
  process.stdout.write(`Wrote drizzle/${file}.\n`);
}

export const digestLine = (file: string): string => `${hexDigest(readText(`drizzle/${file}`))}  ${file}`;

export const hexDigest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A migration that a database has run must not change: a test compares it with its digest. */
export function recordMigrations() {
  const recorded = digestsOf();
  const added = migrationFiles().filter((file) => !recorded.some((line) => line.endsWith(`  ${file}`)));
  if (added.length === 0) return;
  writeFileSync(DIGESTS, [...recorded, ...added.map(digestLine), ""].join("\n"));
  process.stdout.write(`Wrote ${DIGESTS}: commit it. From now on migrations are only added.\n`);
}

/** The lines of the migrations that have been deployed. */
export const digestsOf = (): string[] => (isDeployed() ? readText(DIGESTS).split("\n").filter(Boolean) : []);

/** The tables and views of every `*.table.ts`. */
export async function allTables(): Promise<Record<string, unknown>> {
  const modules = await Promise.all(sourceFiles(".table.ts").map((file) => import(pathToFileURL(file).href)));
  return Object.assign({}, ...modules);
}

/** drizzle-kit asks in the terminal if it cannot know whether a column is new or renamed. */
export async function schemaChanges(): Promise<{ statements: string[]; snapshot: object }> {
  // Imported only here, because that takes seconds: `--help` must not wait for it.
  const { generateSQLiteDrizzleJson, generateSQLiteMigration } = await import("drizzle-kit/api");
  const before = isDeployed()
    ? JSON.parse(readFileSync(SNAPSHOT, "utf8"))
    : await generateSQLiteDrizzleJson({});
  const snapshot = await generateSQLiteDrizzleJson(await allTables(), before.id);
  const statements = await generateSQLiteMigration(before, snapshot);
  // SQLite reads an unknown name in double quotes as a string, and drizzle-kit puts constraint names in double quotes.
  const inBackticks = statements.map((each) => each.trim().replace(/CONSTRAINT "(\w+)"/g, "CONSTRAINT `$1`"));
  return { statements: inBackticks, snapshot };
}
