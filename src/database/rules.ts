import { type SQL, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import {
  builder,
  type Compiled,
  compile,
  decode,
  type Placeholders,
  placeholders,
  type RowOf,
  runRaw,
  type Statement,
} from "./queries.ts";
import { refusals } from "./schema.ts";

/** What a write must not do: `broken` is SQL that is true where it would. */
export interface Rule {
  broken: SQL;
  refusal: () => Error;
}

export interface Write<Last extends Statement> {
  rules: Rule[];
  /** The last one returns the row. */
  statements: [...Statement[], Last];
  /** Statements that refer to what the others have written. */
  after?: Statement[];
}

export type NamedWrite<Values, Result> = (db: Database, values: Values) => Promise<Result>;

/**
 * A write that runs in one transaction and one round trip, if none of its rules is broken. It is built at its first
 * use, and kept, as a named query is.
 *
 * D1 has no interactive transactions, and a batch is rolled back only by an error. So the rules go ahead of the
 * statements as an insert into `refusals`, whose trigger raises the position of the first broken rule as an error.
 * Two requests that meet cannot both pass: D1 runs one batch at a time.
 *
 * The write returns the first row of the last of its statements, and throws the refusal of the first rule that is broken;
 * nothing is written then.
 */
export function namedWrite<Values extends object, Last extends Statement>(
  build: (values: Placeholders<Values>) => Write<Last>,
): NamedWrite<Values, RowOf<Last>> {
  let write: { rules: Rule[]; compiled: Compiled[]; last: number } | undefined;
  return async (db, values) => {
    if (!write) {
      const { rules, statements, after = [] } = build(placeholders<Values>());
      const guarded = rules.length > 0 ? [guard(rules), ...statements] : statements;
      write = { rules, compiled: [...guarded, ...after].map(compile), last: guarded.length - 1 };
    }
    const { rules, compiled, last } = write;
    const queries = compiled.map((each) => ({
      compiled: each,
      params: each.bind(values as Record<string, unknown>),
    }));
    try {
      const rows = (await runRaw(db, queries))[last] ?? [];
      const [row] = decode(queries[last] as { compiled: Compiled; params: unknown[] }, rows);
      if (row === undefined)
        throw new Error("The last statement returned no row although no rule was broken");
      return row as RowOf<Last>;
    } catch (error) {
      throw brokenRule(error, rules)?.refusal() ?? error;
    }
  };
}

function guard(rules: Rule[]): Statement {
  const firstBroken = sql`case ${sql.join(
    rules.map(({ broken }, position) => sql`when ${broken} then 'refused:' || ${sql.raw(String(position))}`),
    sql` `,
  )} end`;
  return builder
    .insert(refusals)
    .select(sql`select reason from (select ${firstBroken} as reason) where reason is not null`);
}

function brokenRule(error: unknown, rules: Rule[]): Rule | undefined {
  const position = raisedReason(error, /refused:(\d+)/);
  return position === undefined ? undefined : rules[Number(position)];
}

/** What the trigger of `refusals` raised, if that is why the batch failed. */
export function raisedReason(error: unknown, pattern: RegExp): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const found = pattern.exec(cause.message);
    if (found) return found[1] ?? found[0];
  }
  return undefined;
}
