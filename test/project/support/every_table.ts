import type { DatabaseSync } from "node:sqlite";
import { tablesParentsFirst } from "../../../src/dev/backup_statements.ts";
import { writeVariedRows } from "./varied_rows.ts";

/** Texts that SQL, files or programs on the way might change. */
export const AWKWARD_TEXTS = [
  `it's "quoted", \`so\`; [and] more; -- no comment /* here */ ?1 :name $x`,
  "first line\nsecond line\r\nthird\rfourth\n",
  "a real line break:\nand a written one: C:\\new\\notes",
  "a real return:\rand a written one: \\r, and \\n",
  "control characters: \u0001\u0008\t\u001f\u007f\u0085, and others: \u2028\u2029\ufeff\u202e",
  "Zoë, Łukasz, 山田太郎, עברית, é as two: e\u0301, 👩‍⚕️🇪🇺",
  "BEGIN TRANSACTION; DELETE FROM users; COMMIT; BEGIN TRANSACTION;",
  "X'00'",
  "replace('a\\nb','\\n',char(10))",
  " ",
  "",
];

/** The longest SOAP note, with characters of one to four bytes, and with characters that need an escape. */
export const LONG_TEXT = "'é山\n\\n👩\u0001".repeat(25_000).slice(0, 200_000);

export const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** As long as the compressed lines of a transcript can be. */
const LONG_BYTES = Uint8Array.from({ length: 900_000 }, (_, n) => (n * 7 + (n >> 8)) % 256);

/** Fills a migrated database with rows in every table, except write_conflicts, which refuses every row. */
export function writeRowsInEveryTable(database: DatabaseSync) {
  writeVariedRows(database);
  database.exec("delete from invites where id = (select max(id) from invites)");
  const note = database.prepare(
    `insert into call_texts (organization_id, call_id, kind, text, is_final, created_at, updated_at)
      select organization_id, id, 'soap_note', ?, 1, 5, 6 from calls where soap_note_deleted_at is null order by id limit 1 offset ?
      on conflict (call_id, kind) do update set text = excluded.text`,
  );
  [...AWKWARD_TEXTS, LONG_TEXT].forEach((text, place) => {
    note.run(text, place);
  });
  // A trigger writes an audit entry of this change.
  database.prepare("update egresses set error = ? where id % 2").run(AWKWARD_TEXTS[2] ?? "");
  const tables = tablesParentsFirst(database).filter(
    (table) => !/^(write_conflicts|d1_migrations|_cf_.*)$/.test(table),
  );
  for (const table of tables)
    if (!database.prepare(`select 1 from "${table}" limit 1`).get()) writeAnyRow(database, table);
  database.prepare("update call_texts set lines = ? where kind = 'transcript'").run(LONG_BYTES);
}

/** A row that refers to the first row of each of its parents. */
function writeAnyRow(database: DatabaseSync, table: string) {
  const row: Record<string, string | number | Uint8Array | null> = {};
  for (const { name, type } of database.prepare("select name, type from pragma_table_info(?)").all(table))
    row[String(name)] = { INTEGER: 1, REAL: 0.1 + 0.2, BLOB: ALL_BYTES }[String(type)] ?? `it's ${name}\n\\n`;
  // Triggers parse it as JSON.
  if ("event_types" in row) row.event_types = null;
  // The first seal has no previous one.
  if ("previous" in row) row.previous = null;
  const keys = database.prepare(`select "table" as parent, "from" as child, "to" as column
    from pragma_foreign_key_list(?) order by id desc`);
  for (const { parent, child, column } of keys.all(table))
    Object.assign(
      row,
      database.prepare(`select "${column}" as "${child}" from "${parent}" order by rowid limit 1`).get(),
    );
  const columns = Object.keys(row);
  database
    .prepare(`insert into "${table}" (${columns}) values (${columns.map(() => "?")})`)
    .run(...Object.values(row));
}
