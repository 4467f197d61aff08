import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import ts from "typescript";

export const KINDS = [
  "trigger",
  "unique index",
  "foreign key",
  "check",
  "organization condition",
  "condition",
] as const;

export type Kind = (typeof KINDS)[number];

/** A change of one place that makes the service faulty: a rule less. */
export interface Mutant {
  kind: Kind;
  /** Unique among the mutants. */
  name: string;
  /** The room whose tests should notice, or `ground`. */
  room: string;
  file: string;
  /** The offset of the replaced text in the file. */
  at: number;
  from: string;
  to: string;
}

const [BASELINE = ""] = globSync("drizzle/*.sql");

const roomOf = (file: string) => {
  const [, floor = ""] = file.split("/");
  return ["http", "database", "directory", "openapi", "queues", "mail", "bytes"].includes(floor) ||
    floor.endsWith(".ts")
    ? "ground"
    : floor;
};

/** The file of `src` that declares an element of the schema. */
async function findDeclarations(): Promise<(name: string) => string> {
  const files = globSync("src/**/*.{table.ts,sql}");
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return (name) => {
    const declaring = new RegExp(`["\`]${name}["\`]|(TABLE|TRIGGER|VIEW) ${name}\\b`);
    return files[texts.findIndex((text) => declaring.test(text))] ?? "src/database/";
  };
}

/** Each text that a pattern matches is left out, or replaced. The first group of the pattern names it. */
function leaveOut(
  kind: Kind,
  sql: string,
  pattern: RegExp,
  nameOf: (match: RegExpExecArray) => string,
  to = "",
) {
  return Array.from(sql.matchAll(pattern), (match) => {
    const [from] = match;
    return { kind, name: nameOf(match), at: match.index, from, to };
  });
}

const tableBefore = (sql: string, at: number) =>
  /CREATE TABLE `(\w+)`/.exec(sql.slice(sql.lastIndexOf("CREATE TABLE", at)))?.[1] ?? "";

/** One mutant for each trigger, unique index, foreign key and check of the schema. */
async function mutantsOfSchema(): Promise<Mutant[]> {
  const sql = await readFile(BASELINE, "utf8");
  const declarationOf = await findDeclarations();
  const inTable = ({ index }: RegExpExecArray, clause: string) => `${tableBefore(sql, index)}: ${clause}`;
  return [
    ...leaveOut("trigger", sql, /CREATE TRIGGER `(\w+)`.*?\nEND;/gs, ([, name = ""]) => name, "SELECT 1;"),
    ...leaveOut(
      "unique index",
      sql,
      /CREATE UNIQUE INDEX(?= `(\w+)`)/g,
      ([, name = ""]) => name,
      "CREATE INDEX",
    ),
    ...leaveOut(
      "foreign key",
      sql,
      /,\n\tFOREIGN KEY \(([^)]*)\) REFERENCES `(\w+)`[^\n]*?(?=,?\n)/g,
      (match) => inTable(match, `${match[1]} → ${match[2]}`),
    ),
    ...leaveOut("check", sql, /,\n\tCONSTRAINT `(\w+)` CHECK[^\n]*?(?=,?\n)/g, (match) =>
      inTable(match, match[1] ?? ""),
    ),
  ].map((mutant) => {
    const [element = ""] = mutant.name.split(":");
    return { ...mutant, file: BASELINE, room: roomOf(declarationOf(element)) };
  });
}

/** The file is parsed, because conditions have other conditions in them. */
function conditionsOf(file: string, source: string): Mutant[] {
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  function add(node: ts.Node, to: string) {
    const from = node.getText(parsed);
    const at = node.getStart(parsed);
    const kind = /organization_id/.test(from) && from.length < 100 ? "organization condition" : "condition";
    const name = `${file}: ${from.replace(/\s+/g, " ").slice(0, 80)}`;
    const same = mutants.filter((mutant) => mutant.name.replace(/ #\d+$/, "") === name).length;
    const unique = same > 0 ? `${name} #${same + 1}` : name;
    mutants.push({ kind, name: unique, room: roomOf(file), file, at, from, to });
  }
  const nameOf = (call: ts.CallExpression) => call.expression.getText(parsed);
  function visit(node: ts.Node): void {
    if (ts.isCallExpression(node)) {
      if (["and", "where"].includes(nameOf(node).replace(/.*\./s, "")))
        for (const term of node.arguments) if (isTerm(term)) add(term, "undefined");
      const [, values] = node.arguments;
      if (nameOf(node) === "hasValues" && values && ts.isObjectLiteralExpression(values))
        for (const property of values.properties) if (values.properties.length > 1) add(property, "...({})");
    }
    ts.forEachChild(node, visit);
  }
  const isTerm = (term: ts.Expression) =>
    ts.isCallExpression(term)
      ? !["and", "hasValues"].includes(nameOf(term))
      : ts.isTaggedTemplateExpression(term);
  visit(parsed);
  return mutants;
}

/** One mutant for each term of a WHERE in the queries that TypeScript declares. */
async function mutantsOfQueries(): Promise<Mutant[]> {
  const files = globSync("src/**/*.{sql,lists,entries,chores}.ts");
  const found = files.sort().map(async (file) => conditionsOf(file, await readFile(file, "utf8")));
  return (await Promise.all(found)).flat();
}

export const allMutants = async (): Promise<Mutant[]> => [
  ...(await mutantsOfSchema()),
  ...(await mutantsOfQueries()),
];
