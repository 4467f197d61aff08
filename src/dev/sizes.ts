/**
 * `npm run sizes`: prints how many rows and about how many bytes each organization has in each table.
 *
 * SQLite could count the bytes of its pages, but D1 does not have that table (`dbstat`), and a page is shared by many
 * organizations. So the bytes are estimated from the lengths of the values.
 */
import { chosenDatabases, runDatabaseCommand, SHARD_USAGE, shardOption } from "./database_command.ts";
import { SCHEMA } from "./exported_copy.ts";
import { portionsStatement, sizeStatement, tablesOf } from "./size_statements.ts";
import { sizeReport, type TableSize } from "./sizes_report.ts";
import { type Executed, executeStatements } from "./statement_runner.ts";
import type { Target } from "./wrangler.ts";

const USAGE = `
Usage: npm run sizes -- [--remote]

${SHARD_USAGE}`;

runDatabaseCommand(USAGE, shardOption, async (target) => {
  const databases = await chosenDatabases(target);
  for (const database of databases) {
    if (databases.length > 1) process.stdout.write(`Shard ${database.shard}:\n\n`);
    await printSizes(database);
    if (databases.length > 1) process.stdout.write("\n");
  }
});

async function printSizes(target: Target) {
  const [{ results: schema }] = (await executeStatements(target, [SCHEMA])) as [Executed];
  const tables = tablesOf(schema);
  if (!tables.some(({ name }) => name === "organizations"))
    throw new Error(
      "The database has no tables: `npm run dev` makes the local ones, and `npm run deploy` the remote ones.",
    );
  const starts = await run(target, tables.map(portionsStatement));
  const portions = tables.flatMap((table, n) =>
    (starts[n]?.results ?? []).map(({ first }) => ({ table, first: Number(first) })),
  );
  const measured = await run(
    target,
    portions.map(({ table, first }) => sizeStatement(table, first)),
  );
  const sizes: TableSize[] = measured.flatMap(({ results }, n) =>
    results.map(({ organization, row_count, bytes }) => ({
      organization: organization === null ? null : Number(organization),
      table: portions[n]?.table.name ?? "",
      rows: Number(row_count),
      bytes: Number(bytes),
    })),
  );
  const [organizations] = (await run(target, ["SELECT id, slug FROM organizations"])) as [Executed];
  const slugs = new Map(organizations.results.map(({ id, slug }) => [Number(id), String(slug)]));
  process.stdout.write(sizeReport(sizes, slugs, organizations.meta.size_after));
}

/** Each in a transaction of its own: D1 serves nobody else meanwhile. */
async function run(target: Target, statements: string[]): Promise<Executed[]> {
  const executed: Executed[] = [];
  for (const statement of statements) executed.push(...(await executeStatements(target, [statement])));
  return executed;
}
