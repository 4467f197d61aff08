import type { DatabaseSync } from "node:sqlite";
import { SECOND } from "../../src/units.ts";
import { bindingOf, type Statement } from "../project/support/d1_binding.ts";
import { executeOn } from "../project/support/service_in_memory.ts";
import { LOST, Lost } from "./lost.ts";
import type { Schedule } from "./schedule.ts";

/** Takes the clock and the random numbers of a database from the schedule. */
export function makeDeterministic(database: DatabaseSync, schedule: Schedule): void {
  const { chance } = schedule;
  database.function("random", () => chance.below(2 ** 31));
  database.function("randomblob", (length) => chance.bytes(new Uint8Array(Number(length))));
  database.function("unixepoch", { varargs: true }, () => schedule.now / SECOND);
}

/** A database whose queries are trips. */
export function databaseOf(database: DatabaseSync, shard: number, schedule: Schedule): D1Database {
  const execute = executeOn(database);
  return bindingOf((statements, session, isBatch) =>
    schedule.trip(
      `asks D1 ${shard}: ${statements.map(summary).join(", ")}`,
      () => execute(statements, session, isBatch),
      () => new Lost(`D1_ERROR: ${LOST}`),
    ),
  );
}

/** The verb and the table of a statement. */
function summary({ query }: Statement): string {
  const [, verb = "run", table = ""] =
    /^\s*(?:with .*? )?(select|insert into|update|delete from)\b(?:.*?\bfrom)?\s*[("]*(\w*)/is.exec(query) ??
    [];
  return `${verb.toLowerCase()} ${table}`.trim();
}
