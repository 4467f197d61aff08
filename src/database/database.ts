export type Database = Pick<D1Database, "prepare" | "batch">;

/** A session on a replica, which may lag. */
export interface Replica extends Database {
  primary(): Database;
}

const isReplica = (db: Database): db is Replica => "primary" in db;

export const primaryOf = (db: Database): Database => (isReplica(db) ? db.primary() : db);

/** Asks the primary again if a replica may lack recent writes, or fails: after a restore, it does not know earlier bookmarks. */
export async function fromPrimaryIfInDoubt<Result>(
  db: Database,
  ask: (db: Database) => Promise<Result>,
  isInDoubt: (result: Result) => boolean = () => false,
): Promise<Result> {
  if (!isReplica(db)) return ask(db);
  const result = await ask(db).catch(() => undefined);
  return result === undefined || isInDoubt(result) ? ask(db.primary()) : result;
}
