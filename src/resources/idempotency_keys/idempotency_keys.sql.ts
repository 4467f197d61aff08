import { and, gt, type SQL } from "drizzle-orm";
import type { ClientContext } from "../../context.ts";
import type { Idempotency } from "../../database/decide_and_write.ts";
import { hasValues } from "../../database/expressions.ts";
import { insertSelect, replaceAllBut, valuesFor } from "../../database/insert.ts";
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
export const idempotencyOf = <Result>(
  { newestAsJson, fromJson }: StoredRow<Result>,
  personal: (keyof Result)[] = [],
): IdempotencyOf<Result> =>
  idempotencyWith(
    () => newestAsJson(personal),
    (stored, values) => ({ ...fromJson(stored as string), ...values }),
  );

/**
 * For a response with a secret, which is not stored.
 *
 * @param advice what the caller of a replay can do
 */
export const idempotencyOfSecret = <Result>(advice: string): IdempotencyOf<Result> =>
  idempotencyWith<Result>(
    () => null,
    () => {
      throw secretIsNotStored(advice);
    },
  );

/**
 * @param toStore the result as it is stored
 * @param resultOf the result from that
 */
function idempotencyWith<Result>(
  toStore: () => SQL<string> | null,
  resultOf: (stored: string | null, personal?: Partial<Result>) => Result,
): IdempotencyOf<Result> {
  // Takes the place of a key whose day has ended, and which the cron has not deleted yet.
  const store = preparedQuery((row: Placeholders<Omit<KeyRow, "result">>) =>
    insertSelect(idempotencyKeys, {
      ...valuesFor(idempotencyKeys, row),
      result: toStore(),
    }).onConflictDoUpdate({
      target: [idempotencyKeys.api_client_id, idempotencyKeys.key],
      set: replaceAllBut(idempotencyKeys, ["api_client_id", "key"]),
    }),
  );
  return async ({ now, caller: { organization_id, api_client_id }, keyed }, personal) => {
    if (!keyed) return undefined;
    const { key } = keyed;
    const fingerprint = await keyed.fingerprint();
    return {
      read: knownRequest({ api_client_id, key, not_before: now - IDEMPOTENCY_KEY_KEPT_FOR }),
      replay(row) {
        const known = row as Pick<KeyRow, "fingerprint" | "result">;
        if (known.fingerprint !== fingerprint) throw keyWasUsed();
        const result = resultOf(known.result, personal);
        keyed.isReplay = true;
        return result;
      },
      store: store({ organization_id, api_client_id, key, fingerprint, created_at: now }),
    };
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
