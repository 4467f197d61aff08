import { drizzle } from "drizzle-orm/d1";

/** Without a session: every query goes to the primary. */
export function openDatabase(binding: D1Database) {
  return drizzle(binding);
}

export type Database = ReturnType<typeof openDatabase>;

/** Queries that see each other's effects, whichever replica they go to. */
export interface Session {
  db: Database;
  /** How far the session has seen; null before its first query. */
  bookmark(): string | null;
}

/** @param start a bookmark to be at least as new as, or where the first query goes; writes go to the primary */
export function openSession(binding: D1Database, start: string): Session {
  const session = binding.withSession(start);
  // Drizzle only calls prepare and batch, which sessions have too (drizzle-orm#4522).
  return { db: drizzle(session as unknown as D1Database), bookmark: () => session.getBookmark() };
}
