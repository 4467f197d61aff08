import { ApiError } from "../http/errors.ts";
import {
  MAX_WRITE_ATTEMPTS,
  MAX_WRITE_BACKOFF,
  MIN_WRITE_ATTEMPT,
  WRITE_RETRY_AFTER,
  WRITE_TIME_LIMIT,
} from "../limits.ts";
import type { Database } from "./database.ts";
import {
  type BoundQuery,
  type Compiled,
  decode,
  type RawRow,
  type RowsOf,
  runBatch,
  runRaw,
} from "./queries.ts";
import { raisedReason } from "./rules.ts";

/** What is decided: nothing to write, and the row as it is; or statements to write, of which the last returns the row. */
export type Decision<Result> =
  | { unchanged: NoInfer<Result> }
  | { writes: [...BoundQuery<unknown>[], BoundQuery<Result>] };

/**
 * Reads, decides in TypeScript, and writes: one round trip each, and none for nothing to write.
 *
 * A decision is never written if the rows that it was based on have changed: the transaction of the write runs the
 * reads again, and fails if one of them returns other rows (for example, a row that was absent is there now). Then
 * everything starts again with the reads.
 *
 * @param decide is called with the rows of each read, perhaps more than once; what it throws ends the attempt
 * @param alongside reads whose rows cannot change without those of `reads`, so that they are not compared: what they
 *   return may be long, or a BLOB
 * @throws ApiError 503 if the rows change faster than they can be decided on
 */
export async function writeDecision<
  Reads extends BoundQuery<unknown>[],
  Result,
  Alongside extends BoundQuery<unknown>[] = [],
>(
  db: Database,
  reads: [...Reads],
  decide: (...rows: RowsOf<[...Reads, ...Alongside]>) => Decision<Result> | Promise<Decision<Result>>,
  alongside: [...Alongside] = [] as BoundQuery<unknown>[] as [...Alongside],
): Promise<Result> {
  const queries: BoundQuery<unknown>[] = [...reads, ...alongside];
  const deadline = Date.now() + WRITE_TIME_LIMIT;
  let started = 0;
  for (let attempt = 0; attempt < MAX_WRITE_ATTEMPTS && Date.now() < deadline; attempt++) {
    if (attempt > 0) await wait(Math.random() * backoff(attempt, Date.now() - started));
    started = Date.now();
    const found = await runRaw(db, queries);
    // Before decoding, which converts the rows in place.
    const fingerprints = found.slice(0, reads.length).map(fingerprint);
    const decision = await decide(
      ...(found.map((rows, n) => decode(queries[n] as BoundQuery<unknown>, rows)) as RowsOf<
        [...Reads, ...Alongside]
      >),
    );
    if ("unchanged" in decision) return decision.unchanged;
    const rows = await writeIf(db, stillTheSame(reads, fingerprints), decision.writes);
    if (rows) return firstOf(rows.at(-1)) as Result;
  }
  throw new ApiError(503, "The record is being changed by many requests at once: try again", {
    headers: { "Retry-After": String(WRITE_RETRY_AFTER) },
    reason: "write_conflict",
  });
}

/** The span of a random wait: reports that met spread over the time that several attempts take, or they meet again. */
const backoff = (attempt: number, lastTook: number) =>
  Math.min(2 ** attempt, MAX_WRITE_BACKOFF) * Math.max(lastTook, MIN_WRITE_ATTEMPT);

/** The rows of each statement, or null where what was read has changed, and nothing was written. */
async function writeIf(
  db: Database,
  unchanged: BoundQuery<unknown>,
  statements: BoundQuery<unknown>[],
): Promise<unknown[][] | null> {
  try {
    return await runBatch(db, [unchanged, ...statements]);
  } catch (error) {
    if (raisedReason(error, /refused:changed/)) return null;
    throw error;
  }
}

function firstOf(rows: unknown[] = []): unknown {
  if (rows.length === 0) throw new Error("The last statement returned no row");
  return rows[0];
}

/** A statement that fails the batch where one of the reads gives rows with another fingerprint. */
function stillTheSame(reads: BoundQuery<unknown>[], fingerprints: string[]): BoundQuery<unknown> {
  const compiled = guardOf(reads.map((read) => read.compiled));
  const params = reads.flatMap((read, n) => [...read.params, fingerprints[n]]);
  return { compiled, params };
}

/** As SQLite's json_group_array writes the rows. */
const fingerprint = (rows: RawRow[]) => JSON.stringify(rows.map((row) => Object.values(row)));

/** Reads come in few combinations, so their guards are kept by the text of the reads. */
const guards = new Map<string, Compiled>();

function guardOf(reads: Compiled[]): Compiled {
  const key = reads.map(({ text }) => text).join(";");
  const known = guards.get(key);
  if (known) return known;
  const changed = reads.map(({ text, columns }) => {
    const row = columns.map((column) => `"${column}"`).join(", ");
    return `(select json_group_array(json_array(${row})) from (${text})) is not ?`;
  });
  const text = `insert into refusals (reason) select 'refused:changed' where ${changed.join(" or ")}`;
  const compiled: Compiled = { text, bind: () => [], columns: [], decoders: [] };
  guards.set(key, compiled);
  return compiled;
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
