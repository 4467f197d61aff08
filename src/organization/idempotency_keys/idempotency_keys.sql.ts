import { and, gt, type SQL } from "drizzle-orm";
import type { ClientContext } from "../../context.ts";
import type { Idempotency } from "../../database/decide_and_write.ts";
import { hasValues } from "../../database/expressions.ts";
import { insertSelect, replaceAllBut, valuesFor } from "../../database/insert.ts";
import { type Placeholders, preparedQuery } from "../../database/queries.ts";
import { rowsWhere } from "../../database/selects.ts";
import type { StoredRow } from "../../database/table_writes.ts";
import { IDEMPOTENCY_KEY_KEPT_FOR } from "../../lifetimes.ts";
import { keyWasUsed, secretIsNotStored } from "./idempotency_keys.refusals.ts";
import { idempotencyKeys } from "./idempotency_keys.table.ts";

type KeyRow = typeof idempotencyKeys.$inferSelect;

/** Undefined without an `Idempotency-Key`. `repeated` has the values of the columns that are not stored. */
type IdempotencyOf<Result, Values = object> = (
  context: ClientContext,
  repeated: Values,
) => Promise<Idempotency<Result> | undefined>;

/** Columns that can hold what people write, unlike ids, times, counts and flags. */
type TextColumn<Result> = {
  [Column in keyof Result]: Result[Column] extends number | boolean | null ? never : Column;
}[keyof Result];

/** `stored` with the key, or `repeated`: not stored, because a replay contains the same value again. */
type Storing = "stored" | "repeated";

type Repeated<Texts> = {
  [Column in keyof Texts]: Texts[Column] extends "repeated" ? Column : never;
}[keyof Texts];

/**
 * Stores the key and the row in the transaction that creates the row. So a crash afterwards loses nothing, and only one of
 * several concurrent requests is carried out. Personal data is not stored.
 */
export const idempotencyOf = <Result, Texts extends Record<TextColumn<Result>, Storing>>(
  { newestAsJson, fromJson }: StoredRow<Result>,
  texts: Texts,
): IdempotencyOf<Result, Pick<Result, Repeated<Texts> & keyof Result>> =>
  idempotencyWith(
    () => newestAsJson((column) => (texts as Record<string, Storing>)[column] !== "repeated"),
    (stored, repeated) => ({ ...fromJson(stored as string), ...repeated }),
  );

/** For a response with a secret, which is not stored. `advice` is for the caller of a replay. */
export const idempotencyOfSecret = <Result>(advice: string): IdempotencyOf<Result> =>
  idempotencyWith(
    () => null,
    () => {
      throw secretIsNotStored(advice);
    },
  );

function idempotencyWith<Result, Values>(
  toStore: () => SQL<string> | null,
  resultOf: (stored: string | null, repeated: Values) => Result,
): IdempotencyOf<Result, Values> {
  // Replaces an expired key that the cron has not deleted yet.
  const store = preparedQuery((row: Placeholders<Omit<KeyRow, "result">>) =>
    insertSelect(idempotencyKeys, {
      ...valuesFor(idempotencyKeys, row),
      result: toStore(),
    }).onConflictDoUpdate({
      target: [idempotencyKeys.api_client_id, idempotencyKeys.key],
      set: replaceAllBut(idempotencyKeys, ["api_client_id", "key"]),
    }),
  );
  return async ({ now, caller: { organization_id, api_client_id }, keyed }, repeated) => {
    if (!keyed) return undefined;
    const { key } = keyed;
    const fingerprint = await keyed.fingerprint();
    return {
      read: knownRequest({ api_client_id, key, not_before: now - IDEMPOTENCY_KEY_KEPT_FOR }),
      replay(row) {
        const known = row as Pick<KeyRow, "fingerprint" | "result">;
        if (known.fingerprint !== fingerprint) throw keyWasUsed();
        const result = resultOf(known.result, repeated);
        keyed.isReplay = true;
        return result;
      },
      store: store({ organization_id, api_client_id, key, fingerprint, created_at: now }),
    };
  };
}

type KeyOfClient = Pick<KeyRow, "api_client_id" | "key">;

const knownRequest = rowsWhere(
  idempotencyKeys,
  { fingerprint: idempotencyKeys.fingerprint, result: idempotencyKeys.result },
  ({ api_client_id, key, not_before }: Placeholders<KeyOfClient & { not_before: number }>) =>
    and(hasValues(idempotencyKeys, { api_client_id, key }), gt(idempotencyKeys.created_at, not_before)),
);
