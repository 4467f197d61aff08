/**
 * `npm run db:baseline`: makes the one migration anew, from src/database/schema.ts and the triggers. The migration's name has
 * a digest of it, so that a database which ran another one does not pass for this one. No organization user gets the id of
 * the service's own user.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { SYSTEM_USER_ID } from "../database/schema.ts";
import {
  DIGESTS,
  generate,
  isDeployed,
  migratedDatabase,
  noteNewest,
  readText,
  sha256,
  writeMigration,
} from "./migrations.ts";
import { createFromFiles, createStatements } from "./triggers.ts";

if (isDeployed())
  throw new Error(
    `Databases have run the migrations in ${DIGESTS}, so migrations are only added: use \`npm run db:generate\` and \`npm run db:triggers\`.`,
  );
rmSync("drizzle", { recursive: true, force: true });
mkdirSync("drizzle");
const [made = ""] = generate(["--name", "baseline"], "pipe");
const tables = readText(`drizzle/${made}`).trim();
const systemUser = `INSERT INTO sqlite_sequence (name, seq) VALUES ('organization_users', ${SYSTEM_USER_ID});`;
const statements = [tables, systemUser, ...createStatements(createFromFiles(migratedDatabase()))];
const file = `0000_baseline_${sha256(statements.join()).slice(0, 8)}.sql`;
renameSync(`drizzle/${made}`, `drizzle/${file}`);
const journal = "drizzle/meta/_journal.json";
writeFileSync(
  journal,
  readText(journal).replace(made.slice(0, -".sql".length), file.slice(0, -".sql".length)),
);
writeMigration(file, statements);
noteNewest(file);
process.stdout.write(`Wrote drizzle/${file}.\n`);
