import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

/** What a developer sets in .dev.vars must not change a test. An empty setting counts as not set. */
const notSet = Object.fromEntries(
  [
    "PLATFORM_API_TOKEN_PREVIOUS",
    "WAITING_ROOM_THEMES",
    "INVITE_VALIDITY_DAYS",
    "LIVEKIT_API_KEY_PREVIOUS",
    "LIVEKIT_API_SECRET_PREVIOUS",
    "LIVEKIT_URL",
    "RECORDINGS_S3_BUCKET",
    "RECORDINGS_S3_REGION",
  ].map((name) => [name, ""]),
);

const migrations = await readD1Migrations("./drizzle");

export default defineConfig({
  test: {
    // Vitest would keep one core free. The end-to-end tests mostly wait for their servers.
    maxWorkers: 2,
    // Tests provoke faults on purpose, so the log of faults is shown only for tests that fail.
    silent: "passed-only",
    // The Worker's line for each request would bury it.
    onConsoleLog: (line) => !line.startsWith('{"event":"request"'),
    projects: [
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              // Tests deliver these messages by hand: otherwise lanes would run when it suits them, and change rows.
              queueProducers: { BULK_INVITES: "bulk-invites", WEBHOOKS: "webhook-deliveries-by-hand" },
              // All tests come from one address. Those of the limits have counters of their own.
              ratelimits: {
                CLIENT_LIMIT: { namespace_id: "1001", simple: { limit: 1_000_000, period: 60 } },
                FAILURE_LIMIT: { namespace_id: "1002", simple: { limit: 1_000_000, period: 60 } },
                SMALL_LIMIT: { namespace_id: "1003", simple: { limit: 5, period: 60 } },
              },
              bindings: {
                ...notSet,
                MIGRATIONS: migrations,
                // An operator may change those of wrangler.toml.
                CLIENT_LIMIT_PER_MINUTE: "1200",
                FAILURE_LIMIT_PER_MINUTE: "60",
                PLATFORM_API_TOKEN: "test-platform-token-of-32-characters",
                APP_URL: "https://app.test",
                INVITE_TOKEN_SECRET: "test-invite-secret-of-32-characters",
                LIVEKIT_API_KEY: "test-livekit-key",
                LIVEKIT_API_SECRET: "test-livekit-secret-of-32-characters",
                RECORDINGS_S3_ENDPOINT: "/cdn-cgi/local/r2/s3",
                RECORDINGS_S3_ACCESS_KEY_ID: "local-access-key",
                RECORDINGS_S3_SECRET_ACCESS_KEY: "local-secret-key",
              },
            },
          }),
        ],
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          setupFiles: ["test/worker/setup.ts"],
          // For a busy machine: how fast something is, the benchmark shows.
          testTimeout: 20_000,
          // Files share a Worker: each test makes its own organization, so that sharing storage is harmless.
          isolate: false,
          // A module from Vitest's cache of files reaches the Worker without its source map: positions would be wrong.
          fsModuleCache: false,
        },
      },
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"], testTimeout: 20_000 } },
      { test: { name: "project", include: ["test/project/**/*.test.ts"], testTimeout: 60_000 } },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/e2e/support/migrated_state.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
