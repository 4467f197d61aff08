/**
 * `npm run shards:reconcile`: makes the directory anew from what the other databases hold: their ranges, organizations, users
 * and keys. The local ones, or with --remote those in production. Takes --persist-to, --config and --env of wrangler.
 *
 * It can run beside the service. Of the directory, it reads the organizations and users first: what changes in another database
 * later is newer. The claims of keys it reads last: whatever was read in another database had been claimed before, and a claim
 * that is younger than the run stays. In production it writes by D1's import, during which the directory answers no requests:
 * in arguments of a command, other users of the machine could read names and emails.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { whileBusy } from "./busy_database.ts";
import { runDatabaseCommand, sayWhich } from "./database_command.ts";
import { allDatabases, type Database, homeless, knownShards, ownRange } from "./databases.ts";
import { openComparison } from "./directory_comparison.ts";
import { COPIES, KEYS, LOCATIONS, rowsOf } from "./directory_statements.ts";
import { SHARDS } from "./shard_statements.ts";
import { bindingOf, queryDatabase, runWrangler, type Target, targetFlags } from "./wrangler.ts";

runDatabaseCommand("Usage: npm run shards:reconcile -- [--remote]\n\n", {}, (target: Target) => {
  const databases = whileBusy(target, () => allDatabases(target));
  const [directory, ...others] = databases;
  if (!directory || others.length === 0)
    return process.stdout.write("There is one database: nothing to do.\n");
  // Not of this machine, whose clock may be another.
  const [time] = queryOf(directory)("SELECT unixepoch() * 1000 AS now");
  const comparison = openComparison(Number(time?.now));
  read(databases, directory, comparison);
  const { statements, changes, conflicts, unread } = comparison.result();
  if (unread.length > 0)
    throw new Error(`NOTHING WAS CHANGED. Put this right, then run it again:\n  ${unread.join("\n  ")}`);
  write(directory, statements);
  process.stdout.write(
    changes.length > 0 ? "Changed in the directory:\n" : "The directory is right: nothing was changed.\n",
  );
  for (const change of changes) process.stdout.write(`  ${change}\n`);
  if (conflicts.length === 0) return;
  process.stdout.write(
    "\nNOT CHANGED, because two databases say different things. Decide which one is right:\n",
  );
  for (const conflict of conflicts) process.stdout.write(`  ${conflict}\n`);
  process.exitCode = 1;
});

type Comparison = ReturnType<typeof openComparison>;

function read(databases: Database[], directory: Database, comparison: Comparison) {
  for (const row of queryOf(directory)(SHARDS)) comparison.addKnown("range", row);
  for (const database of databases) {
    sayWhich(databases, database);
    const { shard } = database;
    if (shard > 0) comparison.addHeld(shard, "range", { shard, range: rangeOf(database) });
    for (const [what, page] of [...Object.entries(COPIES), ...Object.entries(KEYS)])
      for (const row of rowsOf(queryOf(database), page)) comparison.addHeld(shard, what, row);
  }
  for (const row of rowsOf(queryOf(directory), LOCATIONS)) comparison.addKnown("key", row);
}

function queryOf(database: Database) {
  return (statement: string) => whileBusy(database, () => queryDatabase(database, [statement]))[0] ?? [];
}

/** @throws Error if it is not one of our databases */
function rangeOf(database: Database): number {
  const range = whileBusy(database, () => ownRange(database));
  if (range !== undefined) return range;
  const known = knownShards(database).find(({ shard }) => shard === database.shard);
  throw new Error(
    `NOTHING WAS CHANGED. ${bindingOf(database.shard)} has no range of ids. ` +
      (known?.organizations ? homeless(known) : "`npm run shards:add` gives it one."),
  );
}

function write(directory: Database, statements: string[]) {
  if (statements.length === 0) return;
  const folder = mkdtempSync(join(tmpdir(), "reconcile-"));
  const file = join(folder, "changes.sql");
  try {
    writeFileSync(file, `${statements.join(";\n")};\n`, { mode: 0o600 });
    const command = ["d1", "execute", bindingOf(0), "--yes", "--file", file, ...targetFlags(directory)];
    // What was written is written again as it is.
    whileBusy(directory, () =>
      runWrangler(command, { handlesData: true, ...(directory.remote && { stdio: "inherit" }) }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
