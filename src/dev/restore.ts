/**
 * `npm run restore -- --input FILE`: loads a file of `npm run backup` into an empty database. The local one, or with
 * --remote the one in production. Takes --persist-to, --config and --env of wrangler.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { END_OF_BACKUP } from "./backup_statements.ts";
import { runDatabaseCommand } from "./database_command.ts";
import { SCHEMA } from "./exported_copy.ts";
import { queryDatabase, runWrangler, type Target, targetFlags } from "./wrangler.ts";

const USAGE = `
Usage: npm run restore -- --input FILE [--remote]

  --input FILE         a file of \`npm run backup\`
`;

runDatabaseCommand(USAGE, { input: { type: "string" } }, ({ input, ...target }) => {
  if (!input) throw new Error("Say what to restore: npm run restore -- --input FILE");
  restore(target, input);
});

function restore(target: Target, input: string) {
  if (!isComplete(input)) throw new Error(`${input} is not a complete file of \`npm run backup\`.`);
  const [present = []] = queryDatabase(target, [SCHEMA]);
  if (present.length > 0)
    throw new Error(
      "The database is not empty, and a restore changes no database that has tables. Restore into a new one: " +
        (target.remote ? "see Backup and restore in the README." : "use --persist-to with a new folder."),
    );
  // It runs in one transaction: if it fails, the database stays empty.
  const command = ["d1", "execute", "DB", "--yes", "--file", input];
  // Of a remote one, wrangler shows the progress. Of a local one, it prints a result for each statement.
  runWrangler([...command, ...targetFlags(target)], {
    handlesData: true,
    ...(target.remote && { stdio: "inherit" }),
  });
  const [broken = []] = queryDatabase(target, ["PRAGMA foreign_key_check"]);
  if (broken.length > 0)
    throw new Error(`The restored database has rows whose parents are missing: ${JSON.stringify(broken)}`);
  process.stdout.write("Restored. Every foreign key has its row.\n");
}

/** The file's last line says so. Without it the file was cut off, or is one of `wrangler d1 export`. */
function isComplete(file: string): boolean {
  const descriptor = openSync(file, "r");
  const end = Buffer.alloc(END_OF_BACKUP.length + 2);
  readSync(descriptor, end, 0, end.length, Math.max(0, fstatSync(descriptor).size - end.length));
  closeSync(descriptor);
  return end.toString("utf8").replaceAll("\0", "").trim() === END_OF_BACKUP;
}
