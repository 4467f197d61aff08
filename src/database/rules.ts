import { type SQL, sql } from "drizzle-orm";
import type { ApiError } from "../http/errors.ts";
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
  refusal: () => ApiError;
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
 * The write returns the first row of the last statement, and throws the refusal of the first rule that is broken;
 * nothing is written then.
 */
export function namedWrite<Values extends object, Last extends Statement>(
  build: (values: Placeholders<Values>) => { rules: Rule[]; statements: [...Statement[], Last] },
): NamedWrite<Values, RowOf<Last>> {
  let write: { rules: Rule[]; compiled: Compiled[] } | undefined;
  return async (db, values) => {
    if (!write) {
      const { rules, statements } = build(placeholders<Values>());
      write = { rules, compiled: [guard(rules), ...statements].map(compile) };
    }
    const { rules, compiled } = write;
    const queries = compiled.map((each) => ({
      compiled: each,
      params: each.bind(values as Record<string, unknown>),
    }));
    try {
      const rows = (await runRaw(db, queries)).at(-1) ?? [];
      const [row] = decode(queries.at(-1) as { compiled: Compiled; params: unknown[] }, rows);
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
