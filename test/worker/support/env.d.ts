declare namespace Cloudflare {
  interface Env {
    /** Allows five requests a minute. */
    SMALL_LIMIT: RateLimit;
    /** A real queue, whose messages reach the consumer. */
    REAL_BULK_INVITES: Queue;
    /** Bound only if organizations live in another database: see deployed.ts. */
    DIRECTORY?: D1Database;
    /** Empty databases that tests turn into shards. */
    SPARE_1: D1Database;
    SPARE_2: D1Database;
    /** The buckets of a second region. */
    RECORDINGS_EU: R2Bucket;
    AUDIT_LOGS_EU: R2Bucket;
    MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
}
