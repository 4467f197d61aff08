/** The triggers and views of a database, and those of their files. */
import { readdirSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { appendOnlyTriggers } from "./append_only_triggers.ts";
import { auditTriggers } from "./audit_triggers.ts";
import { readText } from "./migrations.ts";

export const TRIGGERS = "src/database/triggers";
const REBUILD = ".rebuild.sql";

/** The triggers that are made of a list, by the list's file. */
const GENERATED = {
  "src/database/append_only.ts": appendOnlyTriggers,
  "src/database/audited_fields.ts": auditTriggers,
};

/** SQLite looks for the tables and columns that triggers name when they run, or when a table gets a new name. */
const PROBE =
  "; CREATE TABLE probe (id); ALTER TABLE probe RENAME TO renamed_probe; DROP TABLE renamed_probe";

/** A trigger or a view. */
export interface Definition {
  type: "trigger" | "view";
  name: string;
  /** The table or view that it is on. */
  on: string;
  sql: string;
  /** The name of the file that has it, without its ending. Empty for one that is generated. */
  subject?: string | undefined;
}

/** The triggers and views that a database has, in the order in which they were created. */
export const definitionsIn = (database: DatabaseSync): Definition[] =>
  database
    .prepare(
      `SELECT type, name, tbl_name AS "on", sql FROM sqlite_schema
      WHERE type IN ('trigger', 'view') ORDER BY rowid`,
    )
    .all()
    .map((row) => ({ ...row }) as unknown as Definition);

const subjectFiles = () =>
  readdirSync(TRIGGERS)
    .filter((file) => file.endsWith(".sql"))
    .sort();

/**
 * Replaces the triggers and views of an empty database with those of the files and lists, and returns them. SQLite reads the
 * files, so that nothing here needs to understand SQL. It runs the rebuild files too, so that none fails for the first
 * time in a migration.
 */
export function createFromFiles(database: DatabaseSync): Definition[] {
  const subjects = new Map<string, string>();
  database.exec(dropStatements(definitionsIn(database)).join("\n"));
  for (const file of subjectFiles().filter((each) => !each.endsWith(REBUILD))) {
    runFile(database, file, PROBE);
    for (const { name } of definitionsIn(database))
      if (!subjects.has(name)) subjects.set(name, file.slice(0, -".sql".length));
  }
  for (const [file, generate] of Object.entries(GENERATED)) run(database, file, generate() + PROBE);
  for (const subject of rebuildableSubjects()) runFile(database, `${subject}${REBUILD}`);
  return definitionsIn(database).map((each) => ({ ...each, subject: subjects.get(each.name) }));
}

const runFile = (database: DatabaseSync, file: string, probe = "") =>
  run(database, `${TRIGGERS}/${file}`, readText(`${TRIGGERS}/${file}`) + probe);

function run(database: DatabaseSync, file: string, statements: string) {
  try {
    database.exec(statements);
  } catch (error) {
    throw new Error(
      `${file} does not fit the migrated tables, or D1: ${(error as Error).message}. Correct the file.`,
      { cause: error },
    );
  }
}

/** What is not the same in both; comments and white space make no difference. */
export function changedNames(present: Definition[], wanted: Definition[]): Set<string> {
  const [before, after] = [present, wanted].map(
    (definitions) => new Map(definitions.map(({ name, sql }) => [name, essence(sql)])),
  ) as [Map<string, string>, Map<string, string>];
  const names = [...before.keys(), ...after.keys()];
  return new Set(names.filter((name) => before.get(name) !== after.get(name)));
}

/** SQL with one space for any white space and comments; texts and names in quotes stay as they are. */
const essence = (sql: string) =>
  sql
    .replace(/('[^']*'|"[^"]*"|`[^`]*`)|(?:--.*|\/\*[\s\S]*?\*\/|\s)+/g, (_, quoted) => quoted ?? " ")
    .trim();

/** A trigger on a view goes with its view, so triggers come first. */
export function dropStatements(definitions: Definition[]): string[] {
  const drop = (wanted: Definition["type"]) =>
    definitions
      .filter(({ type }) => type === wanted)
      .map(({ type, name }) => `DROP ${type.toUpperCase()} \`${name}\`;`);
  return [...drop("trigger"), ...drop("view")];
}

export const createStatements = (definitions: Definition[]): string[] =>
  definitions.map(({ sql }) => `${sql};`);

/** Rebuilds the data that the changed ones may maintain: they name its table, or what is in the file of its subject. */
export const rebuildStatements = (changed: Definition[], wanted: Definition[]): string[] =>
  rebuildableSubjects()
    .filter((subject) => {
      const names = [subject, ...wanted.filter((each) => each.subject === subject).map(({ name }) => name)];
      const namesAny = new RegExp(`\\b(${names.join("|")})\\b`);
      return changed.some(({ sql }) => namesAny.test(sql));
    })
    .map((subject) => readText(`${TRIGGERS}/${subject}${REBUILD}`).trim());

/** The subjects whose triggers maintain data that can be made again from scratch. */
export const rebuildableSubjects = (): string[] =>
  subjectFiles()
    .filter((file) => file.endsWith(REBUILD))
    .map((file) => file.slice(0, -REBUILD.length));
