declare namespace Cloudflare {
  interface Env {
    /** Five in a minute. */
    SMALL_LIMIT: RateLimit;
    /** The queue whose messages reach the consumer. */
    REAL_BULK_INVITES: Queue;
    /** Where organizations live in another database: see deployed.ts. */
    DIRECTORY?: D1Database;
    /** Empty databases for tests that make shards of them. */
    SPARE_1: D1Database;
    SPARE_2: D1Database;
    MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
}
