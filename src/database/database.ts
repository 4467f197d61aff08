/** What runs statements: D1 itself, where every query goes to the primary, or a session of it. */
export interface Database extends Pick<D1Database, "prepare" | "batch"> {
  /** With several databases: the organization of the request, which may have moved to another one. */
  readonly home?: Home | undefined;
}

/** How to ask whether an organization has moved, and how to go on then. */
export interface Home {
  /** A row with the new shard, once it lives there: see moves.ts. */
  newShard: Bound;
  follow: (shard: number) => Database;
  /** Where the request has gone on. */
  followed?: { shard: number; db: Database };
  /** From now on it fails rather than goes on elsewhere. */
  isPinned?: boolean;
}

/** A statement and its parameters. */
export interface Bound {
  compiled: { text: string };
  params: unknown[];
}

/** A database with statements that run in the transaction of each write, after those of the write. */
interface Counting extends Database {
  beside: () => Bound[];
}

export const withBeside = (db: Database, beside: () => Bound[]): Counting => ({
  ...runsOn(db, () => homeOf(db)),
  beside,
});

/** What runs statements there. The home may become known later. */
export const runsOn = (
  there: Pick<Database, "prepare" | "batch">,
  homeNow: () => Home | undefined,
): Database => ({
  prepare: (query) => there.prepare(query),
  batch: (statements) => there.batch(statements),
  get home() {
    return homeNow();
  },
});

/** The organization of the request, if it may have moved. Not every database has the property. */
export const homeOf = (db: Database): Home | undefined => ("home" in db ? db.home : undefined);

/**
 * The shard that a secret is to name. What is written from now on is written there, or the request fails, as one does while its
 * organization is moving.
 */
export function pinnedShard({ db, shard }: { db: Database; shard: number }): number {
  const home = homeOf(db);
  if (home) home.isPinned = true;
  return home?.followed?.shard ?? shard;
}

/** What runs beside these statements, if one of them writes. */
export const besideWrites = (db: Database, statements: Bound[]): Bound[] =>
  "beside" in db && statements.some(({ compiled }) => /^(insert|update|delete)\b/i.test(compiled.text))
    ? (db as Counting).beside()
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
