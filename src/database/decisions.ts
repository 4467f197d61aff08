import { ApiError } from "../http/errors.ts";
import { MAX_WRITE_ATTEMPTS, WRITE_BACKOFF, WRITE_RETRY_AFTER } from "../limits.ts";
import type { Database } from "./database.ts";
import { type BoundQuery, type Compiled, decode, type RawRow, type RowsOf, runRaw } from "./queries.ts";
import { raisedReason } from "./rules.ts";

/**
 * What is decided on what was read: nothing to write, and the row as it is; or the statements to write, of which the
 * last returns the row as it is then.
 */
export type Decision<Result> =
  | { unchanged: Result }
  | { writes: [...BoundQuery<unknown>[], BoundQuery<Result>] };

/**
 * Reads, decides in TypeScript, and writes: one round trip each, and none for nothing to write.
 *
 * A decision is never written on rows that have changed since: the write asks its reads once more, in its own
 * transaction, and fails where one of them answers otherwise (a row that was absent is there now, say). Then it is
 * read and decided again.
 *
 * @param decide is called with the rows of each read, perhaps more than once; what it throws ends the attempt
 * @throws ApiError 503 where the rows change faster than they can be decided on
 */
export async function writeDecision<Reads extends BoundQuery<unknown>[], Result>(
  db: Database,
  reads: [...Reads],
  decide: (...rows: RowsOf<Reads>) => Decision<Result> | Promise<Decision<Result>>,
): Promise<Result> {
  for (let attempt = 0; attempt < MAX_WRITE_ATTEMPTS; attempt++) {
    if (attempt > 0) await wait(Math.random() * WRITE_BACKOFF * attempt);
    const found = await runRaw(db, reads);
    const unchanged = stillTheSame(reads, found);
    const decision = await decide(
      ...(found.map((rows, n) => decode(reads[n] as BoundQuery<unknown>, rows)) as RowsOf<Reads>),
    );
    if ("unchanged" in decision) return decision.unchanged;
    const row = await writeIf(db, unchanged, decision.writes);
    if (row) return row;
  }
  throw new ApiError(503, "The record is being changed by many requests at once: try again", {
    headers: { "Retry-After": String(WRITE_RETRY_AFTER) },
    reason: "write_conflict",
  });
}

/** Whether a row would change: one that is absent, or one of which a field differs. */
export function isChange<Next extends object>(before: Next | undefined, next: Next): boolean {
  return !before || (Object.keys(next) as (keyof Next)[]).some((field) => before[field] !== next[field]);
}

/** The last statement's first row, or null where what was read has changed, and nothing was written. */
async function writeIf<Result>(
  db: Database,
  unchanged: BoundQuery<unknown>,
  writes: [...BoundQuery<unknown>[], BoundQuery<Result>],
): Promise<Result | null> {
  try {
    const rows = (await runRaw(db, [unchanged, ...writes])).at(-1) ?? [];
    const [row] = decode(writes.at(-1) as BoundQuery<Result>, rows);
    if (row === undefined) throw new Error("The last statement returned no row");
    return row;
  } catch (error) {
    if (raisedReason(error, /refused:changed/)) return null;
    throw error;
  }
}

/** A statement that fails the batch where one of the reads gives other rows than these. */
function stillTheSame(reads: BoundQuery<unknown>[], found: RawRow[][]): BoundQuery<unknown> {
  const compiled = guardOf(reads.map((read) => read.compiled));
  const params = reads.flatMap((read, n) => [...read.params, fingerprint(found[n] ?? [])]);
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
