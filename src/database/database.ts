/** What runs statements: D1 itself, where every query goes to the primary, or a session of it. */
export type Database = Pick<D1Database, "prepare" | "batch">;
