/** What runs statements: D1 itself, where every query goes to the primary, or a session of it. */
export type Database = Pick<D1Database, "prepare" | "batch">;

/** A statement and its parameters. */
export interface Bound {
  compiled: { text: string };
  params: unknown[];
}

/** A database with a statement that runs in the transaction of each write. */
interface Counting extends Database {
  beside: Bound;
}

export const withBeside = (db: Database, beside: Bound): Counting => ({
  prepare: (query) => db.prepare(query),
  batch: (statements) => db.batch(statements),
  beside,
});

/** The same without that: for what finishes a write that was counted. */
export const withoutBeside = (db: Database): Database => ({
  prepare: (query) => db.prepare(query),
  batch: (statements) => db.batch(statements),
});

/** What runs beside these statements, if one of them writes. */
export const besideWrites = (db: Database, statements: Bound[]): Bound[] =>
  "beside" in db && statements.some(({ compiled }) => /^(insert|update|delete)\b/i.test(compiled.text))
    ? [(db as Counting).beside]
    : [];

/** A session on a replica, which may lag. */
export interface Replica extends Database {
  /** The same on the primary. */
  primary(): Database;
}

export const isReplica = (db: Database): db is Replica => "primary" in db;

/** The same on the primary, where it is not that already. */
export const primaryOf = (db: Database): Database => (isReplica(db) ? db.primary() : db);

/**
 * Asks the primary too, where a replica leaves something in doubt: it may not have yet what others have written. And so
 * where it fails: after a restore, it does not know the bookmarks of before.
 */
export async function fromPrimaryIfInDoubt<Result>(
  db: Database,
  ask: (db: Database) => Promise<Result>,
  isInDoubt: (result: Result) => boolean = () => false,
): Promise<Result> {
  if (!isReplica(db)) return ask(db);
  const result = await ask(db).catch(() => undefined);
  return result === undefined || isInDoubt(result) ? ask(db.primary()) : result;
}
