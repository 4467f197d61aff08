// TEMPORARY: what resources not yet converted to named queries still use. Deleted with its last import.
import { type SQL, sql } from "drizzle-orm";
import type { BatchItem, BatchResponse } from "drizzle-orm/batch";
import type { ApiError } from "../http/errors.ts";
import type { Database } from "./database.ts";
import { refusals } from "./schema.ts";

/** What a write must not do: `broken` is SQL that is true where it would, `error` is what the caller is told. */
export interface Rule {
  broken: SQL;
  error: ApiError;
}

export type Statement = BatchItem<"sqlite">;

type RowOf<S extends Statement> = BatchResponse<[S]>[0] extends (infer Row)[] ? Row : never;

/**
 * Runs the statements as one transaction, in one round trip, if none of the rules is broken.
 *
 * D1 has no interactive transactions, and a batch is rolled back only by an error. So the rules go ahead of the
 * statements as an insert into `refusals`, whose trigger raises the position of the first broken rule as an
 * error. Two requests that meet cannot both pass: D1 runs one batch at a time.
 *
 * @returns the first row of the last statement
 * @throws the error of the first rule that is broken; nothing is written then
 */
export async function writeUnderRules<Last extends Statement>(
  db: Database,
  rules: Rule[],
  statements: [...Statement[], Last],
): Promise<RowOf<Last>> {
  const firstBroken = sql`case ${sql.join(
    rules.map(({ broken }, position) => sql`when ${broken} then 'refused:' || ${position}`),
    sql` `,
  )} end`;
  const guard = db
    .insert(refusals)
    .select(sql`select reason from (select ${firstBroken} as reason) where reason is not null`);
  try {
    const results: unknown[] = await db.batch([guard, ...statements]);
    const row = (results.at(-1) as RowOf<Last>[])[0];
    if (row === undefined) throw new Error("The last statement gave no row although no rule was broken");
    return row;
  } catch (error) {
    throw brokenRule(error, rules)?.error ?? error;
  }
}

function brokenRule(error: unknown, rules: Rule[]): Rule | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const position = /refused:(\d+)/.exec(cause.message)?.[1];
    if (position) return rules[Number(position)];
  }
  return undefined;
}
