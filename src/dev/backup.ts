/**
 * `npm run backup -- --output FILE`: writes a database as a SQL file that `npm run restore` can load.
 *
 * With several databases, each gets its own file. The first database, the directory, is backed up last: an organization is in the
 * directory before it has rows elsewhere, so the directory's file misses none.
 *
 * `wrangler d1 export` is not enough. Its file cannot be loaded: children come before their parents, and triggers before the
 * rows, which they would count again. A row longer than 100 KB becomes a statement that D1 refuses. And it changes some texts:
 * see exported_copy.ts.
 *
 * However the file is loaded, it makes the database quiet in the transaction that creates the rows: see quiet_statements.ts.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { requireNoBackup } from "./backup_files.ts";
import { backupStatements } from "./backup_statements.ts";
import { CONSENT_USAGE, consentOptions, say } from "./command.ts";
import { chosenDatabases, runDatabaseCommand, SHARD_USAGE, shardOption } from "./database_command.ts";
import { nameOf } from "./deployment.ts";
import { copyOf, linesOfFile, SCHEMA } from "./exported_copy.ts";
import { writePrivateFile } from "./private_file.ts";
import { QUIETING_STATEMENTS } from "./quiet_statements.ts";
import { queryDatabase } from "./statement_runner.ts";
import { carryOut } from "./steps.ts";
import { bindingOf, configFlags, LOCAL_STATE, runWrangler, type Target } from "./wrangler.ts";

const USAGE = `
Usage: npm run backup -- --output FILE | --shipped [--remote]

  --output FILE        the file to write, which must not exist yet
  --shipped            notes in the database that its backup is in a safe place now, so that a late one is noticed
${SHARD_USAGE}${CONSENT_USAGE}`;

const options = {
  ...consentOptions,
  output: { type: "string" },
  shipped: { type: "boolean" },
  ...shardOption,
} as const;

const NOTE = `INSERT INTO database_settings (name, value) VALUES ('backup', CAST(unixepoch('subsec') * 1000 AS INTEGER))
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

runDatabaseCommand(USAGE, options, async ({ output, shipped, ...target }) => {
  if (Boolean(output) === Boolean(shipped))
    throw new Error("Choose one: npm run backup -- --output FILE, or --shipped");
  const databases = (await chosenDatabases(target)).toReversed();
  if (!output) {
    const steps = databases.map((each) => ({
      says: `Note in ${nameOf(each)} that its backup is in a safe place`,
      run: () => queryDatabase(each, [NOTE]),
    }));
    return void (await carryOut(steps, target));
  }
  requireNoBackup(output);
  for (const [n, database] of databases.entries()) {
    if (databases.length > 1)
      process.stderr.write(`Shard ${database.shard}, ${n + 1} of ${databases.length}\n`);
    await backUp(database, databases.length > 1 ? `${output}.${database.shard}` : output);
  }
});

async function backUp(target: Target, output: string) {
  const [schema = []] = await queryDatabase(target, [SCHEMA]);
  if (schema.length === 0) throw new Error("The database is empty: there is nothing to back up.");
  const folder = mkdtempSync(join(tmpdir(), "backup-"));
  try {
    const exported = await exportRows(target, folder);
    const copy = await copyOf(schema, linesOfFile(exported), (statements) =>
      queryDatabase(target, statements),
    );
    await writePrivateFile(output, backupStatements(copy, QUIETING_STATEMENTS));
    copy.close();
    say(`Wrote ${output}. It contains health data: keep it as safe as the database.`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function exportRows(target: Target, folder: string): Promise<string> {
  const output = join(folder, "rows.sql");
  const command = ["d1", "export", bindingOf(target.shard), "--no-schema", "--skip-confirmation"];
  const place = target.remote
    ? ["--remote", ...configFlags(target)]
    : ["--local", ...configFlags(withStateBesideConfig(target, folder))];
  await runWrangler([...command, "--output", output, ...place], { handlesData: true });
  return output;
}

/** `wrangler d1 export` has no --persist-to: it looks for the local database in the folder of the configuration. */
function withStateBesideConfig(target: Target, folder: string): Target {
  const config = join(folder, "wrangler.toml");
  copyFileSync(target.config, config);
  mkdirSync(join(folder, ".wrangler"));
  symlinkSync(resolve(target["persist-to"] ?? LOCAL_STATE), join(folder, LOCAL_STATE), "junction");
  return { ...target, config };
}
