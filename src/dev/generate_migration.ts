/**
 * `npm run db:generate -- --name what_changed`: adds a migration for the changes in the `*.table.ts` and
 * `*.triggers.sql`.
 *
 * Many changes of a column need a new table in SQLite: create, copy, drop, rename. The statements that drizzle-kit generates
 * for that fail on D1 if rows refer to the table: a migration runs in a transaction, in which `PRAGMA foreign_keys` has no
 * effect. They also fail if a view reads the table, and they lose the table's triggers. So such a migration drops all
 * triggers and views first, and creates them again at the end.
 */
import { writeFileSync } from "node:fs";
import { runCommand, UsageError } from "./command.ts";
import { isDeployed, migratedDatabase, migrationFiles, schemaChanges, writeMigration } from "./migrations.ts";
import {
  changedNames,
  createFromFiles,
  createStatements,
  type Definition,
  definitionsIn,
  dropStatements,
  rebuildStatements,
} from "./triggers.ts";
import { WRITES_PAGE, writesPage } from "./writes_page.ts";

const USAGE = `
Usage: npm run db:generate -- --name what_changed

Adds a migration for the changes in the *.table.ts and *.triggers.sql files in src.
`;

await runCommand(USAGE, { name: { type: "string" } }, async ({ name = "" }) => {
  if (!isDeployed())
    throw new Error("Nothing is deployed yet: use `npm run db:baseline`, which replaces the only migration.");
  if (!/^\w+$/.test(name)) throw new UsageError("Name the change in one word.");
  const { statements, snapshot } = await schemaChanges();
  const changes = statements.some(isKeysPragma) ? withDeferredKeys(statements) : statements;
  const database = migratedDatabase();
  const present = definitionsIn(database);
  database.exec([...dropStatements(present), "BEGIN;", ...changes, "COMMIT;"].join("\n"));
  const wanted = createFromFiles(database);
  writeFileSync(WRITES_PAGE, writesPage(database, wanted));
  const changed = changedNames(present, wanted);
  const hasChanged = (definition: Definition) => changed.has(definition.name);
  // A trigger on a view is dropped and created with the view.
  const isMadeAnew = /\b(DROP TABLE|DROP COLUMN|RENAME)\b/.test(changes.join())
    ? () => true
    : (definition: Definition) => hasChanged(definition) || changed.has(definition.on);
  const migration = [
    ...dropStatements(present.filter(isMadeAnew)),
    ...changes,
    ...createStatements(wanted.filter(isMadeAnew)),
    ...rebuildStatements([...present, ...wanted].filter(hasChanged), wanted),
  ];
  if (migration.length === 0) process.stdout.write("Nothing has changed: no migration is needed.\n");
  else writeMigration(`${String(migrationFiles().length).padStart(4, "0")}_${name}.sql`, migration, snapshot);
});

function isKeysPragma(statement: string) {
  return statement.startsWith("PRAGMA foreign_keys");
}

/**
 * Replaces the pragma with `defer_foreign_keys`, which works in a transaction: keys may be broken until each new table is in
 * place. A new table continues the old table's ids, so that the id of a deleted row is never reused.
 */
function withDeferredKeys(statements: string[]): string[] {
  const others = statements.filter((each) => !isKeysPragma(each));
  const withSequences = others.flatMap((statement) => {
    const [, created, name] = /^INSERT INTO `(__new_(\w+))`/.exec(statement) ?? [];
    if (!created) return [statement];
    return [
      statement,
      `DELETE FROM sqlite_sequence WHERE name = '${created}';`,
      `INSERT INTO sqlite_sequence SELECT '${created}', seq FROM sqlite_sequence WHERE name = '${name}';`,
    ];
  });
  return ["PRAGMA defer_foreign_keys=ON;", ...withSequences, "PRAGMA defer_foreign_keys=OFF;"];
}
