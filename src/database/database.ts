import type { BoundQuery } from "./queries.ts";

/** D1 itself, where every query goes to the primary, or a D1 session. */
export interface Database extends Pick<D1Database, "prepare" | "batch"> {
  /** The statements of `decideAndWrite` that count a write towards the quotas of the day. */
  countWrite?(): BoundQuery<unknown>[];
}

/** Copies the methods, because a D1 binding cannot be spread. */
export const runsOn = (there: Database): Database => ({
  prepare: (query) => there.prepare(query),
  batch: (statements) => there.batch(statements),
});

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
