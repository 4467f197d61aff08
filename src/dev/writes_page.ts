import { relative } from "node:path/posix";
import type { DatabaseSync } from "node:sqlite";
import { essence, type SourceDefinition } from "./triggers.ts";

export const WRITES_PAGE = "src/database/WRITES.md";

const INTRODUCTION = `# Effects of writes

Triggers run with every write, whichever code sends it. \`npm run db:baseline\` (once deployed: \`npm run db:generate\`) writes this page.

- If a trigger writes a table, the triggers of that table run too: follow the link.
- A statement of a trigger may have further conditions: see its file. In an event's type, \`*\` depends on the row.
- Not listed: a foreign key without an action, which refuses to delete a row to which others refer; and what the service itself writes in
  the transaction of a change, which is the access log (\`*.entries.ts\`) and the count of the day's writes (\`usage.quotas.ts\`).
`;

/** The longest WHEN that the page repeats. For a longer one, it names the columns. */
const MAX_WHEN = 90;

/** The action of a statement and its table, then columns, types of events, or an error's text. */
type Effect = [action: string, ...details: string[]];

type Line = Record<"on" | "operation" | "text", string>;

export function writesPage(database: DatabaseSync, definitions: SourceDefinition[]): string {
  const all = definitions
    .filter(({ type }) => type === "trigger")
    .map((each) => ({ ...each, ...partsOf(each.sql) }));

  /** For an insert into a view, the effects of the view's trigger. Such an insert may name the types of events. */
  function effectsOf(statement: string, types: string[] = []): Effect[] {
    const [, error, query] = /^SELECT raise\(ABORT, (.*?)\)( FROM .*| WHERE .*)?$/.exec(statement) ?? [];
    if (error) return [[query ? "can refuse the write" : "refuses the write", error]];
    const [, verb, table = ""] = /^(INSERT INTO|UPDATE) `?(\w+)/.exec(statement) ?? [];
    if (!verb) throw new Error(`${WRITES_PAGE} cannot describe this statement of a trigger: ${statement}`);
    if (verb === "UPDATE") return [[`updates ${linkTo(table)}`, ...columnsSetIn(statement)]];
    const allTypes = [...types, ...typesIn(statement)];
    const ofView = all.filter(({ on, isOnView }) => isOnView && on === table);
    if (ofView.length === 0) return [[`writes ${linkTo(table)}`, ...(table === "events" ? allTypes : [])]];
    return ofView.flatMap(({ statements }) => statements.flatMap((each) => effectsOf(each, allTypes)));
  }

  const keys = database.prepare(
    `SELECT DISTINCT key."table" AS "on", 'DELETE' AS operation,
      '- ' || key.on_delete || ' of the foreign key in [' || child.name || '](#' || child.name || ').' AS text
    FROM sqlite_schema AS child, pragma_foreign_key_list(child.name) AS key
    WHERE child.type = 'table' AND key.on_delete <> 'NO ACTION' ORDER BY child.name`,
  );
  const lines = keys.all() as unknown as Line[];
  for (const { isOnView, name, file, on, operation, columns, when, statements } of all) {
    const effects = textOf(statements.flatMap((each) => effectsOf(each)));
    const source = `[${name}](${relative("src/database", file)})`;
    if (!isOnView)
      lines.push({ on, operation, text: `- ${conditionOf(columns, when)}${effects}. ${source}` });
  }
  const written = JSON.stringify(lines).matchAll(/\(#(\w+)\)/g);
  const tables = new Set([...lines.map(({ on }) => on), ...[...written].map(([, table = ""]) => table)]);
  return [INTRODUCTION, ...[...tables].sort().map((table) => sectionOf(table, lines))].join("\n");
}

function sectionOf(table: string, lines: Line[]): string {
  const writers = lines.filter(({ on, text }) => on !== table && text.includes(linkTo(table)));
  const links = [...new Set(writers.map(({ on }) => linkTo(on)))].sort();
  const parts = [`## ${table}\n`];
  if (links.length > 0) parts.push(`Also written by the triggers of ${links.join(", ")}.\n`);
  for (const operation of ["INSERT", "UPDATE", "DELETE"]) {
    const own = lines.filter((each) => each.on === table && each.operation === operation);
    if (own.length > 0) parts.push(`**${operation.toLowerCase()}**\n`, ...own.map(({ text }) => text), "");
  }
  return parts.join("\n");
}

const textOf = (effects: Effect[]) =>
  [...Map.groupBy(effects, ([action]) => action)]
    .map(([action, same]) => [action, codes(same.flatMap(([, ...details]) => details))])
    .map(([action, details]) => (details ? `${action}: ${details}` : action))
    .join("; ");

function conditionOf(columns: string[], when: string): string {
  const named = [...when.matchAll(/\b(?:old|new)\.(\w+)/g)].map(([, column = ""]) => column);
  const others = codes(named.filter((column) => !columns.includes(column)));
  const parts = columns.length > 0 ? [`of ${codes(columns)}`] : [];
  if (when.length > MAX_WHEN) parts.push(`under a condition${others && ` on ${others}`}`);
  else if (when) parts.push(`if \`${when}\``);
  return parts.length > 0 ? `${parts.join(", ")}: ` : "";
}

/** The parts of a trigger, without comments. Texts in the trigger must not contain a semicolon. */
export function partsOf(sql: string) {
  const [, head = "", body = ""] = /^(.*?) BEGIN (.*) END ?;?$/.exec(essence(sql)) ?? [];
  const [, operation = "", columns] = /(INSERT|UPDATE|DELETE)(?: OF (.*?))? ON /.exec(head) ?? [];
  const [, when = ""] = / WHEN (.*)$/.exec(head) ?? [];
  const statements = body.split(/ ?; ?/).filter((each) => each !== "");
  const isOnView = / INSTEAD OF /.test(head);
  return { operation, isOnView, columns: columns?.split(", ") ?? [], when, statements };
}

function columnsSetIn(update: string): string[] {
  const [, list, set = ""] = / SET (?:\(([^)]*)\)|(.*))/.exec(update) ?? [];
  if (list) return list.split(", ");
  let flat = set;
  while (/\([^()]*\)/.test(flat)) flat = flat.replace(/\([^()]*\)/g, "");
  return [...flat.replace(/ WHERE .*/, "").matchAll(/(\w+) = /g)].map(([, column = ""]) => column);
}

/** The types of events in a statement, and `*` for the missing part of a type that is put together. */
const typesIn = (statement: string): string[] =>
  [...statement.matchAll(/'([a-z_]*)\.([a-z_]*)'/g)].map(
    ([, family, change]) => `${family || "*"}.${change || "*"}`,
  );

const codes = (texts: string[]) => [...new Set(texts)].map((each) => `\`${each}\``).join(", ");

const linkTo = (table: string) => `[${table}](#${table})`;
