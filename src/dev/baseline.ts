/**
 * `npm run db:baseline`: replaces the only migration, from the tables and triggers. The migration's name contains
 * a digest of its statements, so that a database with another baseline is noticed. The migration also reserves the id of the
 * service's own user, so that no organization user gets it.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { SYSTEM_USER_ID } from "../organization/members/organization_users.table.ts";
import { runCommand } from "./command.ts";
import {
  DIGESTS,
  emptyDatabase,
  hexDigest,
  isDeployed,
  schemaChanges,
  writeMigration,
} from "./migrations.ts";
import { createFromFiles, createStatements } from "./triggers.ts";
import { WRITES_PAGE, writesPage } from "./writes_page.ts";

const USAGE = `
Usage: npm run db:baseline

Before the first deployment, replaces the only migration, from the *.table.ts and *.triggers.sql files in src.
`;

await runCommand(USAGE, {}, async () => {
  if (isDeployed())
    throw new Error(
      `Databases have run the migrations in ${DIGESTS}, so add a migration instead: use \`npm run db:generate\`.`,
    );
  const { statements: tables, snapshot } = await schemaChanges();
  const database = emptyDatabase();
  database.exec(tables.join("\n"));
  const systemUser = `INSERT INTO sqlite_sequence (name, seq) VALUES ('organization_users', ${SYSTEM_USER_ID});`;
  const definitions = createFromFiles(database);
  const statements = [...tables, systemUser, ...createStatements(definitions)];
  rmSync("drizzle", { recursive: true, force: true });
  mkdirSync("drizzle/meta", { recursive: true });
  writeMigration(`0000_baseline_${hexDigest(statements.join()).slice(0, 8)}.sql`, statements, snapshot);
  writeFileSync(WRITES_PAGE, writesPage(database, definitions));
});
