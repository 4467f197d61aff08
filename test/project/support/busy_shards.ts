/** Databases in memory. Each runs one query or batch at a time, as D1 does. */
import type { DatabaseSync } from "node:sqlite";
import { migratedDatabase } from "../../../src/dev/migrations.ts";
import { rangeStatement, rangeStatements } from "../../../src/dev/shard_statements.ts";
import { bindingOf, type Execute } from "./d1_binding.ts";
import { executeOn } from "./service_in_memory.ts";
import { bindings } from "./worker_in_node.ts";

export function databasesInMemory(count: number): DatabaseSync[] {
  const databases = Array.from({ length: count }, migratedDatabase);
  for (const [shard, database] of databases.entries()) {
    if (shard === 0) continue;
    databases[0]?.exec(rangeStatement(shard));
    for (const statement of rangeStatements(shard, shard)) database.exec(statement);
  }
  return databases;
}

/**
 * The Worker's bindings with these databases.
 *
 * @param beBusy runs before each batch or query of a shard, and blocks the shard until it ends. If it throws, the batch
 * fails.
 */
export function bindingsOfShards(
  databases: DatabaseSync[],
  beBusy: (shard: number) => Promise<void> = async () => {},
): Env {
  const [DB, ...others] = databases.map((database, shard) =>
    bindingOf(oneAtATime(executeOn(database), () => beBusy(shard))),
  );
  const further = Object.fromEntries(others.map((other, n) => [`DB_${n + 1}`, other]));
  return { ...bindings(DB as D1Database), ...further };
}

function oneAtATime(execute: Execute, beBusy: () => Promise<void>): Execute {
  let last: Promise<unknown> = Promise.resolve();
  return (...args) => {
    const mine = last.then(beBusy).then(() => execute(...args));
    last = mine.catch(() => {});
    return mine;
  };
}
