/** Several databases in memory, each of which does one thing at a time, as D1 does. */
import { setTimeout as sleep } from "node:timers/promises";
import { migratedDatabase } from "../../../src/dev/migrations.ts";
import { rangeStatement, rangeStatements } from "../../../src/dev/shard_statements.ts";
import { bindingOf, type Execute } from "./d1_binding.ts";
import { executeOn } from "./service_in_memory.ts";
import { bindings } from "./worker_in_node.ts";

/**
 * The Worker's bindings, with so many databases.
 *
 * @param busy_for the milliseconds in which a database does nothing else, for each batch or query
 */
export function bindingsOfShards(count: number, busy_for: number): Env {
  const databases = Array.from({ length: count }, migratedDatabase);
  for (const [shard, database] of databases.entries()) {
    if (shard === 0) continue;
    databases[0]?.exec(rangeStatement(shard));
    for (const statement of rangeStatements(shard, shard)) database.exec(statement);
  }
  const [DB, ...others] = databases.map((database) => bindingOf(oneAtATime(executeOn(database), busy_for)));
  const further = Object.fromEntries(others.map((other, n) => [`DB_${n + 1}`, other]));
  return { ...bindings(DB as D1Database), ...further };
}

function oneAtATime(execute: Execute, busy_for: number): Execute {
  let last: Promise<unknown> = Promise.resolve();
  return (...args) => {
    const mine = last.then(() => sleep(busy_for)).then(() => execute(...args));
    last = mine.catch(() => {});
    return mine;
  };
}
