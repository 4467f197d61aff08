import { growingPause } from "../pauses.ts";
import { MAX_WRITE_ATTEMPTS, MAX_WRITE_BACKOFF, MIN_WRITE_ATTEMPT, WRITE_TIME_LIMIT } from "../tuning.ts";
import { isCausedBy } from "./causes.ts";
import type { Database } from "./database.ts";
import {
  type BoundQuery,
  type Compiled,
  decode,
  type NamedQueries,
  type RawRow,
  type RowsOf,
  runBatch,
  runRaw,
} from "./queries.ts";

type Queries = BoundQuery<unknown>[];

/** The last of the `writes` returns the row. After them run the `entries`, which record the change in the access log. */
export type Decision<Result> =
  | { unchanged: NoInfer<Result> }
  | { writes: [...Queries, BoundQuery<Result>]; entries?: Queries };

/** For a request that is carried out once: see organization/idempotency_keys. */
export interface Idempotency<Result> {
  read: BoundQuery<unknown>;
  /** Returns the earlier result, from the row that was read. */
  replay: (known: unknown) => Result;
  /** Runs last, in the transaction that carries the request out. */
  store: BoundQuery<unknown>;
}

/** A context, or a database alone. */
export interface Writer {
  db: Database;
  /** A statement of every write that counts it toward the day's quota. */
  countWrite?: () => Queries;
}

interface Options<Result, Unguarded extends NamedQueries> {
  /** Rows that cannot change without those of the guarded reads are not compared: they may be long, or a BLOB. */
  unguardedReads?: Unguarded;
  idempotency?: Idempotency<Result> | undefined;
}

export class WriteConflict extends Error {
  override name = "WriteConflict";
}

/**
 * Reads, decides in TypeScript, and writes: one round trip each. Skips the write if nothing changes, and the read if there is
 * nothing to read.
 *
 * The transaction of the write runs the reads again, and fails if one of them returns other rows than those that the decision
 * was based on (for example, a row that was absent is there now). Then everything starts again.
 *
 * @param decide is called with the rows of each read by its name, perhaps more than once; what it throws ends the attempt
 * @throws WriteConflict if the rows change faster than they can be decided on
 */
export async function decideAndWrite<
  Reads extends NamedQueries,
  Result,
  Unguarded extends NamedQueries = Record<never, never>,
>(
  { db, countWrite = () => [] }: Writer,
  reads: Reads,
  decide: (rows: RowsOf<Reads & Unguarded>) => Decision<Result> | Promise<Decision<Result>>,
  { unguardedReads, idempotency }: Options<Result, Unguarded> = {},
): Promise<Result> {
  const named = Object.entries({ ...reads, ...unguardedReads });
  const keyReads = idempotency ? [idempotency.read] : [];
  const guarded = [...keyReads, ...Object.values(reads)];
  const queries = [...keyReads, ...named.map(([, read]) => read)];
  const deadline = Date.now() + WRITE_TIME_LIMIT;
  let started = 0;
  for (let attempt = 0; attempt < MAX_WRITE_ATTEMPTS && Date.now() < deadline; attempt++) {
    if (attempt > 0) await wait(Math.random() * longestWait(attempt, Date.now() - started));
    started = Date.now();
    // A key is almost always new. If nothing else is read, that is assumed, and the guard finds out.
    const isAssumed = attempt === 0 && named.length === 0;
    const found = isAssumed ? queries.map((): RawRow[] => []) : await runRaw(db, queries);
    // The fingerprints are taken before decoding, which converts the rows in place.
    const guards = guarded.map((read, n) => ({ read, fingerprint: fingerprint(found[n] ?? []) }));
    const rows: unknown[][] = found.map((each, n) => decode(queries[n] as BoundQuery<unknown>, each));
    if (idempotency) {
      const [known] = rows.shift() as unknown[];
      if (known) return idempotency.replay(known);
    }
    const rowsByName = Object.fromEntries(named.map(([name], n) => [name, rows[n]]));
    const decision = await decide(rowsByName as RowsOf<Reads & Unguarded>);
    if ("unchanged" in decision) return decision.unchanged;
    const { writes, entries = [] } = decision;
    const stores = idempotency ? [idempotency.store] : [];
    const written = await writeIf(db, guards, [...writes, ...entries, ...stores, ...countWrite()]);
    if (!written) continue;
    const [row] = written[writes.length - 1] ?? [];
    if (row === undefined) throw new Error("The last statement returned no row");
    return row as Result;
  }
  throw new WriteConflict("The rows that a write depends on kept changing");
}

/** Writes that met spread over the time that several attempts take, or they meet again. */
function longestWait(attempt: number, lastTook: number): number {
  const took = Math.max(lastTook, MIN_WRITE_ATTEMPT);
  return growingPause(attempt, { first: 2 * took, longest: MAX_WRITE_BACKOFF * took, jitter: 0 });
}

interface Guard {
  read: BoundQuery<unknown>;
  fingerprint: string;
}

/** null if a row that was read has changed, and nothing was written. */
async function writeIf(db: Database, guards: Guard[], writes: Queries): Promise<unknown[][] | null> {
  if (guards.length === 0) return runBatch(db, writes);
  try {
    return (await runBatch(db, [stillTheSame(guards), ...writes])).slice(1);
  } catch (error) {
    if (isCausedBy(error, ({ message }) => message.includes(CONFLICT))) return null;
    throw error;
  }
}

const CONFLICT = "write conflict";

/** Fails the batch if the rows of a read have another fingerprint. */
function stillTheSame(guards: Guard[]): BoundQuery<unknown> {
  return {
    compiled: guardOf(guards.map(({ read }) => read.compiled)),
    params: guards.flatMap(({ read, fingerprint }) => [...read.params, fingerprint]),
  };
}

/** As SQLite's json_group_array writes the rows. */
const fingerprint = (rows: RawRow[]) => JSON.stringify(rows.map((row) => Object.values(row)));

const compiledGuards = new Map<string, Compiled>();

function guardOf(reads: Compiled[]): Compiled {
  const key = reads.map(({ text }) => text).join(";");
  const known = compiledGuards.get(key);
  if (known) return known;
  const changed = reads.map(({ text, columns }) => {
    const row = columns.map((column) => `"${column}"`).join(", ");
    return `(select json_group_array(json_array(${row})) from (${text})) is not ?`;
  });
  const text = `insert into write_conflicts (reason) select '${CONFLICT}' where ${changed.join(" or ")}`;
  const compiled: Compiled = { text, bind: () => [], columns: [], decoders: [] };
  compiledGuards.set(key, compiled);
  return compiled;
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
