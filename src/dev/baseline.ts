/**
 * `npm run db:baseline`: makes the one migration anew, from src/database/schema.ts and the triggers. The migration's name has
 * a digest of it, so that a database which ran another one does not pass for this one. No organization user gets the id of
 * the service's own user.
 */
import { mkdirSync, rmSync } from "node:fs";
import { SYSTEM_USER_ID } from "../database/schema.ts";
import { requireArguments } from "./command.ts";
import { DIGESTS, emptyDatabase, hexDigest, isDeployed, writeMigration } from "./migrations.ts";
import { schemaChanges } from "./schema_changes.ts";
import { createFromFiles, createStatements } from "./triggers.ts";

requireArguments(
  `
Usage: npm run db:baseline

Makes the one migration anew, from src/database/schema.ts and src/database/triggers, until the first deployment.
`,
  {},
);
if (isDeployed())
  throw new Error(
    `Databases have run the migrations in ${DIGESTS}, so migrations are only added: use \`npm run db:generate\`.`,
  );
const { statements: tables, snapshot } = await schemaChanges();
const database = emptyDatabase();
database.exec(tables.join("\n"));
const systemUser = `INSERT INTO sqlite_sequence (name, seq) VALUES ('organization_users', ${SYSTEM_USER_ID});`;
const statements = [...tables, systemUser, ...createStatements(createFromFiles(database))];
rmSync("drizzle", { recursive: true, force: true });
mkdirSync("drizzle/meta", { recursive: true });
writeMigration(`0000_baseline_${hexDigest(statements.join()).slice(0, 8)}.sql`, statements, snapshot);
