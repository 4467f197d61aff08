import { and, eq, gt, max, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { ClientContext, Context } from "../context.ts";
import { ApiError, unprocessable } from "../http/errors.ts";
import { IDEMPOTENCY_KEY_KEPT_FOR } from "../limits.ts";
import { insertSelect, replaceAllBut } from "./insert.ts";
import { namedCleanUp } from "./portions.ts";
import {
  builder,
  type Compiled,
  compile,
  decode,
  namedQuery,
  type Placeholders,
  type RawRow,
  type RowOf,
  runAll,
  runFirst,
  type Statement,
} from "./queries.ts";
import { namedWrite, type Rule, type Write } from "./rules.ts";
import { idempotencyKeys } from "./schema.ts";

interface KeyValues {
  organization_id: number;
  api_client_id: number;
  key: string;
  fingerprint: string;
  now: number;
}

interface Created<Name = string> {
  table: SQLiteTable & { id: SQLiteColumn };
  columns: Record<string, SQLiteColumn | SQL.Aliased | SQL>;
  /** Columns of text that are not stored, because they are personal: a replay brings the same values again. */
  personal?: Name[];
  /** For a response that has a secret, which is not stored: what the caller of a replay can do. */
  secretAdvice?: string;
}

class KeyIsKnown extends Error {}

export const KEY_WAS_USED =
  "Idempotency-Key: was used for another request; each request needs a key of its own";

/**
 * A write that makes one row, and at most one for each `Idempotency-Key` of a client.
 *
 * The key, and the row as it was made, are stored in the transaction that makes it. So a first request takes one round
 * trip, a crash after it loses nothing, and of requests that meet, one is carried out: D1 runs one batch at a time. For
 * the others, a second round trip reads the stored row, so that the response is the same again.
 */
export function namedCreation<
  Values extends Pick<KeyValues, "organization_id" | "now">,
  Last extends Statement,
>(
  { table, columns, personal = [], secretAdvice }: Created<keyof Values & string>,
  build: (values: Placeholders<Values>) => Write<Last>,
): (context: ClientContext, values: Values) => Promise<RowOf<Last>> {
  const write = namedWrite(build);
  const writeOnce = namedWrite((values: Placeholders<Values & KeyValues>) => {
    const { rules, statements, after = [] } = build(values as unknown as Placeholders<Values>);
    const keyValues = values as unknown as Placeholders<KeyValues>;
    const stored = secretAdvice === undefined ? newestRow({ table, columns, personal }) : null;
    return {
      rules: [keyIsKnown(keyValues), ...rules],
      statements,
      after: [...after, storeKey(keyValues, stored)],
    };
  });
  let row: Compiled | undefined;
  return async function createOnce(context, values): Promise<RowOf<Last>> {
    const { db, caller, keyed } = context;
    if (!keyed) return write(db, values);
    const { key } = keyed;
    const fingerprint = await keyed.fingerprint();
    const { api_client_id } = caller;
    try {
      return await writeOnce(db, { ...values, api_client_id, key, fingerprint });
    } catch (error) {
      if (!(error instanceof KeyIsKnown)) throw error;
    }
    const known = await runFirst(db, knownRequest({ api_client_id, key }));
    // Its day has just ended, and the cron has deleted it.
    if (!known) return createOnce(context, values);
    if (known.fingerprint !== fingerprint) throw unprocessable(KEY_WAS_USED);
    if (known.result === null)
      throw new ApiError(409, `The request with this Idempotency-Key was carried out. ${secretAdvice}`);
    keyed.isReplay = true;
    row ??= compile(builder.select(columns).from(table));
    // A row that an older version of the service stored lacks the columns that were added since.
    const made: RawRow = Object.fromEntries(row.columns.map((name) => [name, null]));
    Object.assign(made, JSON.parse(known.result));
    for (const name of personal) made[name] = values[name];
    return decode({ compiled: row, params: [] }, [made])[0] as RowOf<Last>;
  };
}

const keyIsKnown = ({ api_client_id, key, now }: Placeholders<KeyValues>): Rule => ({
  broken: sql`exists ${builder
    .select({ key: idempotencyKeys.key })
    .from(idempotencyKeys)
    .where(
      and(
        ownKey(api_client_id, key),
        gt(idempotencyKeys.created_at, sql`${now} - ${sql.raw(String(IDEMPOTENCY_KEY_KEPT_FOR))}`),
      ),
    )}`,
  refusal: () => new KeyIsKnown(),
});

const ownKey = (
  api_client_id: Placeholders<KeyValues>["api_client_id"],
  key: Placeholders<KeyValues>["key"],
) => and(eq(idempotencyKeys.api_client_id, api_client_id), eq(idempotencyKeys.key, key));

const knownRequest = namedQuery(
  ({ api_client_id, key }: Placeholders<Pick<KeyValues, "api_client_id" | "key">>) =>
    builder
      .select({ fingerprint: idempotencyKeys.fingerprint, result: idempotencyKeys.result })
      .from(idempotencyKeys)
      .where(ownKey(api_client_id, key)),
);

/** Takes the place of a key whose day has ended, and which the cron has not deleted yet. */
const storeKey = (
  { organization_id, api_client_id, key, fingerprint, now }: Placeholders<KeyValues>,
  result: SQL | null,
) =>
  insertSelect(
    idempotencyKeys,
    { organization_id, api_client_id, key, fingerprint, result, created_at: now },
    sql`where true`,
  ).onConflictDoUpdate({
    target: [idempotencyKeys.api_client_id, idempotencyKeys.key],
    set: replaceAllBut(idempotencyKeys, ["api_client_id", "key"]),
  });

/** The newest row, which this transaction has just made, as JSON. */
function newestRow({ table, columns, personal = [] }: Created): SQL {
  const newest = builder
    .select(columns)
    .from(table)
    .where(eq(table.id, builder.select({ id: max(table.id) }).from(table)));
  const fields = Object.keys(columns)
    .filter((name) => !personal.includes(name))
    .map((name) => sql.raw(`'${name}', newest."${name}"`));
  return sql`(select json_object(${sql.join(fields, sql`, `)}) from ${newest} as newest)`;
}

/** One run of the cron deletes a portion. */
export async function deleteOldIdempotencyKeys({ db, now }: Context): Promise<number> {
  return (await runAll(db, deleteOldKeys({ before: now - IDEMPOTENCY_KEY_KEPT_FOR }))).length;
}

const deleteOldKeys = namedCleanUp(idempotencyKeys, idempotencyKeys.created_at);
