/** Compares the triggers and views of a database with their files, and writes the SQL that makes them equal. */
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
}

/** As a file has it: `subject` is the file's name, without its ending; empty for one that is generated. */
export type WantedDefinition = Definition & { subject: string };

export interface Difference {
  name: string;
  kind: "missing" | "extra" | "different";
  /** The subject that it belongs to; for an extra one the subject whose data it maintains, if any. */
  subject: string | undefined;
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
export function createFromFiles(database: DatabaseSync): WantedDefinition[] {
  const subjects = new Map<string, string>();
  database.exec(dropStatements(definitionsIn(database)).join("\n"));
  for (const file of subjectFiles().filter((each) => !each.endsWith(REBUILD))) {
    runFile(database, file, PROBE);
    for (const { name } of definitionsIn(database))
      if (!subjects.has(name)) subjects.set(name, file.slice(0, -".sql".length));
  }
  for (const [file, generate] of Object.entries(GENERATED)) run(database, file, generate() + PROBE);
  for (const subject of rebuildableSubjects()) runFile(database, `${subject}${REBUILD}`);
  return definitionsIn(database).map((each) => ({ ...each, subject: subjects.get(each.name) ?? "" }));
}

const runFile = (database: DatabaseSync, file: string, probe = "") =>
  run(database, `${TRIGGERS}/${file}`, readText(`${TRIGGERS}/${file}`) + probe);

function run(database: DatabaseSync, file: string, statements: string) {
  try {
    database.exec(statements);
  } catch (error) {
    throw new Error(
      `${file} does not fit the migrated tables, or D1: ${(error as Error).message}. ` +
        "Correct the file or, where it needs a new table or column, run `npm run db:generate` first.",
      { cause: error },
    );
  }
}

/** The names of what a database has otherwise than the files; comments and white space make no difference. */
export function differences(present: Definition[], wanted: WantedDefinition[]): Difference[] {
  const presentByName = new Map(present.map((each) => [each.name, each]));
  const wantedNames = new Set(wanted.map(({ name }) => name));
  return [
    ...wanted.flatMap(({ name, subject, sql }): Difference[] => {
      const there = presentByName.get(name);
      if (!there) return [{ name, kind: "missing", subject }];
      return essence(there.sql) === essence(sql) ? [] : [{ name, kind: "different", subject }];
    }),
    ...present
      .filter(({ name }) => !wantedNames.has(name))
      .map(({ name, sql }): Difference => ({ name, kind: "extra", subject: subjectUsedBy(sql, wanted) })),
  ];
}

/** The subject with data to rebuild whose table (of the same name) or view an SQL text names. */
const subjectUsedBy = (sql: string, wanted: WantedDefinition[]) =>
  rebuildableSubjects().find((subject) =>
    wanted
      .filter((each) => each.type === "view" && each.subject === subject)
      .map(({ name }) => name)
      .concat(subject)
      .some((name) => new RegExp(`\\b${name}\\b`).test(sql)),
  );

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

/**
 * The statements that change what differs and nothing else, and those that rebuild the data of these subjects.
 * A trigger on a view that is made again is made again with it.
 */
export function repairStatements(present: Definition[], wanted: WantedDefinition[]): string[] {
  const found = differences(present, wanted);
  const names = new Set(found.map(({ name }) => name));
  const affected = ({ name, on }: Definition) => names.has(name) || names.has(on);
  return [
    ...dropStatements(present.filter(affected)),
    ...createStatements(wanted.filter(affected)),
    ...rebuildStatements(found),
  ];
}

/** Rebuilds the data of the subjects that differ, because it may have been maintained by other formulas. */
export const rebuildStatements = (found: Difference[]): string[] =>
  subjectsToRebuild(found).map((subject) => readText(`${TRIGGERS}/${subject}${REBUILD}`).trim());

export const subjectsToRebuild = (found: Difference[]): string[] =>
  rebuildableSubjects().filter((each) => found.some(({ subject }) => subject === each));

/** The subjects whose triggers maintain data that can be made again from scratch. */
export const rebuildableSubjects = (): string[] =>
  subjectFiles()
    .filter((file) => file.endsWith(REBUILD))
    .map((file) => file.slice(0, -REBUILD.length));
