/**
 * `npm run db:generate -- --name what_changed`: lets drizzle-kit write a migration from src/database/schema.ts, and
 * makes it fit for D1.
 *
 * For many changes of a column SQLite needs a new table: create, copy, drop, rename. What drizzle-kit writes for that
 * fails on D1 where rows refer to the table: a migration runs in a transaction, in which `PRAGMA foreign_keys` has no
 * effect. It also fails where a view reads the table, and loses the table's triggers. So such a migration drops all
 * triggers and views first, and creates them again from their files. They are not left to a second migration: until
 * that has run, writes would go without their audit entries, their totals and their guards.
 */
import {
  fitForD1,
  generate,
  migratedDatabase,
  readText,
  requireDeployed,
  writeMigration,
} from "./migrations.ts";
import {
  createFromFiles,
  createStatements,
  definitionsIn,
  differences,
  dropStatements,
  rebuildStatements,
} from "./triggers.ts";

requireDeployed();
const flags = process.argv.slice(2);
const database = migratedDatabase();
const [file] = generate(flags, "inherit");
// A custom migration is still empty: its author adds the digest when it is finished (a test says how).
if (file && !flags.includes("--custom")) {
  try {
    writeMigration(file, complete(readText(`drizzle/${file}`).trim()));
  } catch (error) {
    process.stderr.write(`The migration is not finished. ${(error as Error).message}
Then undo what drizzle-kit wrote (git restore drizzle src/database/migrated.ts; git clean -f drizzle), and run this again.\n`);
    process.exitCode = 1;
  }
}

function complete(migration: string): string[] {
  if (!/\b(DROP TABLE|DROP COLUMN|RENAME)\b/.test(migration)) return [migration];
  const present = definitionsIn(database);
  const changes = [...dropStatements(present), ...fitForD1(migration)];
  database.exec(`BEGIN; ${changes.join("\n")} COMMIT;`);
  const wanted = createFromFiles(database);
  process.stdout.write(
    "It changes or drops what triggers may use: they are dropped first, and created again.\n",
  );
  return [...changes, ...createStatements(wanted), ...rebuildStatements(differences(present, wanted))];
}
