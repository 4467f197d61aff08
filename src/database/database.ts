/** D1 itself, where every query goes to the primary, or a D1 session. */
export type Database = Pick<D1Database, "prepare" | "batch">;

export interface Bound {
  compiled: { text: string; writes: boolean };
  params: unknown[];
}

/** A database that adds statements to the transaction of each write, after the statements of the write itself. */
interface Counting extends Database {
  /** @param isChange whether the write certainly changes something; otherwise its last statement decides */
  beside: (isChange: boolean) => Bound[];
}

export const withBeside = (db: Database, beside: Counting["beside"]): Counting => ({ ...runsOn(db), beside });

/** For the writes of a decision, which always change something. */
export const forChange = (db: Database): Database =>
  isCounting(db) ? withBeside(db, () => db.beside(true)) : db;

const isCounting = (db: Database): db is Counting => "beside" in db;

/** Copies the methods, because a D1 binding cannot be spread. */
export const runsOn = (there: Database): Database => ({
  prepare: (query) => there.prepare(query),
  batch: (statements) => there.batch(statements),
});

/** The statements to run in the same batch as `statements`, if any of those writes. */
export const besideWrites = (db: Database, statements: Bound[]): Bound[] =>
  isCounting(db) && statements.some(({ compiled }) => compiled.writes) ? db.beside(false) : [];

/** A session on a replica, which may lag. */
export interface Replica extends Database {
  /** A session that begins on the primary. */
  primary(): Database;
}

export const isReplica = (db: Database): db is Replica => "primary" in db;

export const primaryOf = (db: Database): Database => (isReplica(db) ? db.primary() : db);

/**
 * Asks the primary again if the result of a replica is in doubt, because the replica may lack recent writes, or if the replica
 * fails: after a restore, it does not know earlier bookmarks.
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
