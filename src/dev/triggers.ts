import { basename } from "node:path/posix";
import type { DatabaseSync } from "node:sqlite";
import * as lifetimes from "../lifetimes.ts";
import * as limits from "../limits.ts";
import { appendOnlyTriggers, auditTriggers, organizationTriggers } from "./generated_triggers.ts";
import { readText, sourceFiles } from "./migrations.ts";

export const TRIGGERS = ".triggers.sql";
const REBUILD = ".rebuild.sql";

const GENERATED = {
  "src/database/append_only.ts": appendOnlyTriggers,
  "src/results/egress_audit_logs/audited_fields.ts": auditTriggers,
  "src/organization/organizations/organizations.table.ts": organizationTriggers,
};

/** Makes SQLite check the tables and columns that triggers name: it does so only when a trigger runs or a table is renamed. */
const PROBE = "CREATE TABLE probe (id); ALTER TABLE probe RENAME TO renamed_probe; DROP TABLE renamed_probe";

export interface Definition {
  type: "trigger" | "view";
  name: string;
  /** The table or view of a trigger. */
  on: string;
  sql: string;
}

/** A definition, and the file that has it or the list from which it is generated. */
export type SourceDefinition = Definition & { file: string };

export const definitionsIn = (database: DatabaseSync): Definition[] =>
  database
    .prepare(
      `SELECT type, name, tbl_name AS "on", sql FROM sqlite_schema
      WHERE type IN ('trigger', 'view') ORDER BY rowid`,
    )
    .all()
    .map((row) => ({ ...row }) as unknown as Definition);

/**
 * Replaces the triggers and views of an empty database with those of the files and lists, and returns them. SQLite parses the
 * files, so that this code does not have to. Runs the rebuild files too, so that a faulty one fails here and not in a migration.
 */
export function createFromFiles(database: DatabaseSync): SourceDefinition[] {
  const created: SourceDefinition[] = [];
  const create = (file: string, statements: string) => {
    run(database, file, statements);
    created.push(
      ...definitionsIn(database)
        .slice(created.length)
        .map((each) => ({ ...each, file })),
    );
  };
  database.exec(dropStatements(definitionsIn(database)).join("\n"));
  for (const file of sourceFiles(TRIGGERS)) create(file, textOf(file));
  for (const [file, generate] of Object.entries(GENERATED)) create(file, generate());
  run(database, "A file of triggers", PROBE);
  for (const file of rebuildFiles().values()) run(database, file, textOf(file));
  return created;
}

/** The name of a file of triggers, without the extension. */
export const subjectOf = ({ file }: SourceDefinition) => basename(file, TRIGGERS);

const textOf = (file: string) => fillInNumbers(readText(file), file);

/** Replaces `{{NAME}}` with the number of that name in limits.ts or lifetimes.ts. */
export function fillInNumbers(text: string, file: string): string {
  const numbers: Record<string, unknown> = { ...limits, ...lifetimes };
  return text.replace(/\{\{(.*?)\}\}/g, (placeholder, name: string) => {
    if (typeof numbers[name] !== "number")
      throw new Error(`${file}: ${placeholder} is not a number of limits.ts or lifetimes.ts.`);
    return String(numbers[name]);
  });
}

function run(database: DatabaseSync, file: string, statements: string) {
  try {
    database.exec(statements);
  } catch (error) {
    throw new Error(
      `${file} does not fit the migrated tables or D1: ${(error as Error).message}. Correct the file.`,
      { cause: error },
    );
  }
}

export function changedNames(present: Definition[], wanted: Definition[]): Set<string> {
  const [before, after] = [present, wanted].map(
    (definitions) => new Map(definitions.map(({ name, sql }) => [name, essence(sql)])),
  ) as [Map<string, string>, Map<string, string>];
  const names = [...before.keys(), ...after.keys()];
  return new Set(names.filter((name) => before.get(name) !== after.get(name)));
}

/** Replaces comments and white space in SQL with one space, except in quoted texts and names. */
export const essence = (sql: string) =>
  sql
    .replace(/('[^']*'|"[^"]*"|`[^`]*`)|(?:--.*|\/\*[\s\S]*?\*\/|\s)+/g, (_, quoted) => quoted ?? " ")
    .trim();

/** Drops the triggers first, because dropping a view drops its triggers too. */
export function dropStatements(definitions: Definition[]): string[] {
  const drop = (wanted: Definition["type"]) =>
    definitions
      .filter(({ type }) => type === wanted)
      .map(({ type, name }) => `DROP ${type.toUpperCase()} \`${name}\`;`);
  return [...drop("trigger"), ...drop("view")];
}

export const createStatements = (definitions: Definition[]): string[] =>
  definitions.map(({ sql }) => `${sql};`);

/** Rebuilds the data that a changed trigger may maintain: one that names the subject, or a definition in the subject's file. */
export const rebuildStatements = (changed: Definition[], wanted: SourceDefinition[]): string[] =>
  [...rebuildFiles()]
    .filter(([subject]) => {
      const names = [
        subject,
        ...wanted.filter((each) => subjectOf(each) === subject).map(({ name }) => name),
      ];
      const namesAny = new RegExp(`\\b(${names.join("|")})\\b`);
      return changed.some(({ sql }) => namesAny.test(sql));
    })
    .map(([, file]) => textOf(file).trim());

/** The files that rebuild the data that triggers maintain, by the subject of the triggers. */
export const rebuildFiles = () =>
  new Map(sourceFiles(REBUILD).map((file) => [basename(file, REBUILD), file]));
