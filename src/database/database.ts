/** What runs statements: D1 itself, where every query goes to the primary, or a session of it. */
export type Database = Pick<D1Database, "prepare" | "batch"> & {
  /** A statement, with its parameters, that runs in the transaction of each write. */
  beside?: { compiled: { text: string }; params: unknown[] };
};

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

/** The same database, with a statement that runs in the transaction of each write. */
export const withBeside = (db: Database, beside: Required<Database>["beside"]): Database => ({
  prepare: (query) => db.prepare(query),
  batch: (statements) => db.batch(statements),
  beside,
});
