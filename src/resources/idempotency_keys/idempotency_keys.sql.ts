import { and, gt, type SQL } from "drizzle-orm";
import type { ClientContext } from "../../context.ts";
import type { Idempotency } from "../../database/decide_and_write.ts";
import { hasValues } from "../../database/expressions.ts";
import { insertSelect, replaceAllBut } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { idempotencyKeys } from "../../database/schema.ts";
import type { StoredRow } from "../../database/table_writes.ts";
import { IDEMPOTENCY_KEY_KEPT_FOR } from "../../lifetimes.ts";
import { keyWasUsed, secretIsNotStored } from "./idempotency_keys.refusals.ts";

type KeyRow = typeof idempotencyKeys.$inferSelect;

/** How a request that makes one row of a table is carried out once; undefined for one without an `Idempotency-Key`. */
type IdempotencyOf<Result> = (
  context: ClientContext,
  /** The values of the columns that are not stored. */
  personal?: Partial<Result>,
) => Promise<Idempotency<Result> | undefined>;

/**
 * The key and the row as it was made are stored in the transaction that makes it. So a crash after it loses nothing, and
 * of requests that meet, one is carried out: D1 runs one batch at a time.
 *
 * @param personal columns of text that are not stored: a replay brings the same values again
 */
export function idempotencyOf<Result>(
  { newestAsJson, fromJson }: StoredRow<Result>,
  personal: (keyof Result)[] = [],
): IdempotencyOf<Result> {
  const store = preparedQuery((row: Placeholders<Omit<KeyRow, "result">>) =>
    storeKey(row, newestAsJson(personal)),
  );
  return (context, values) =>
    idempotencyWith<Result>(context, store, (result) => ({ ...fromJson(result as string), ...values }));
}

/**
 * For a response with a secret, which is not stored.
 *
 * @param advice what the caller of a replay can do
 */
export function idempotencyOfSecret<Result>(advice: string): IdempotencyOf<Result> {
  const store = preparedQuery((row: Placeholders<Omit<KeyRow, "result">>) => storeKey(row, null));
  return (context) =>
    idempotencyWith<Result>(context, store, () => {
      throw secretIsNotStored(advice);
    });
}

async function idempotencyWith<Result>(
  { now, caller: { organization_id, api_client_id }, keyed }: ClientContext,
  store: (row: Omit<KeyRow, "result">) => Idempotency<Result>["store"],
  resultOf: (stored: string | null) => Result,
): Promise<Idempotency<Result> | undefined> {
  if (!keyed) return undefined;
  const { key } = keyed;
  const fingerprint = await keyed.fingerprint();
  return {
    read: knownRequest({ api_client_id, key, not_before: now - IDEMPOTENCY_KEY_KEPT_FOR }),
    replay(row) {
      const known = row as Pick<KeyRow, "fingerprint" | "result">;
      if (known.fingerprint !== fingerprint) throw keyWasUsed();
      const result = resultOf(known.result);
      keyed.isReplay = true;
      return result;
    },
    store: store({ organization_id, api_client_id, key, fingerprint, created_at: now }),
  };
}

type KeyOfClient = Pick<KeyRow, "api_client_id" | "key">;

const knownRequest = preparedQuery(
  ({ api_client_id, key, not_before }: Placeholders<KeyOfClient & { not_before: number }>) =>
    builder
      .select({ fingerprint: idempotencyKeys.fingerprint, result: idempotencyKeys.result })
      .from(idempotencyKeys)
      .where(
        and(hasValues(idempotencyKeys, { api_client_id, key }), gt(idempotencyKeys.created_at, not_before)),
      ),
);

/** Takes the place of a key whose day has ended, and which the cron has not deleted yet. */
const storeKey = (row: Placeholders<Omit<KeyRow, "result">>, result: SQL<string> | null) =>
  insertSelect(idempotencyKeys, {
    organization_id: row.organization_id,
    api_client_id: row.api_client_id,
    key: row.key,
    fingerprint: row.fingerprint,
    result,
    created_at: row.created_at,
  }).onConflictDoUpdate({
    target: [idempotencyKeys.api_client_id, idempotencyKeys.key],
    set: replaceAllBut(idempotencyKeys, ["api_client_id", "key"]),
  });
