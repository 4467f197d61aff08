declare namespace Cloudflare {
  interface Env {
    /** Five in a minute. */
    SMALL_LIMIT: RateLimit;
    /** The queue whose messages reach the consumer. */
    REAL_BULK_INVITES: Queue;
    MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
}
