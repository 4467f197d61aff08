/**
 * `npm run db:triggers -- --name what_changed`: writes a migration that makes the triggers and views of the migrated
 * database equal to the files in src/database/triggers. It changes just what differs, and rebuilds the data of a
 * subject whose triggers or views changed.
 */
import { generate, migratedDatabase, requireDeployed, writeMigration } from "./migrations.ts";
import {
  createFromFiles,
  definitionsIn,
  differences,
  repairStatements,
  subjectsToRebuild,
  TRIGGERS,
} from "./triggers.ts";

const say = (line: string) => process.stdout.write(`${line}\n`);

requireDeployed();
const database = migratedDatabase();
const present = definitionsIn(database);
const wanted = createFromFiles(database);
const found = differences(present, wanted);
if (found.length === 0)
  say(`The migrated database has the triggers and views of ${TRIGGERS}: no migration is needed.`);
else migrate();

function migrate() {
  const [file] = generate(["--custom", ...process.argv.slice(2)], "pipe");
  if (!file) throw new Error("drizzle-kit made no migration.");
  writeMigration(file, [
    `-- Written by \`npm run db:triggers\`. The reasons are in ${TRIGGERS}.`,
    ...repairStatements(present, wanted),
  ]);
  say(`Wrote drizzle/${file}:`);
  for (const { kind, name } of found)
    say({ missing: `  creates ${name}`, extra: `  drops ${name}`, different: `  replaces ${name}` }[kind]);
  for (const subject of subjectsToRebuild(found)) say(`  rebuilds ${subject}`);
}
