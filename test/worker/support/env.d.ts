declare namespace Cloudflare {
  interface Env {
    /** Five in a minute. */
    SMALL_LIMIT: RateLimit;
    MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
}
