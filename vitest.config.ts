import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig, type Plugin, type TestUserConfig } from "vitest/config";

/** What a developer sets in .dev.vars must not change a test. An empty setting counts as not set. */
const notSet = Object.fromEntries(
  [
    "ALLOW_HTTP",
    "OWN_HOSTS",
    // Many tests go days on. What is sealed then would be events of theirs, so only the tests of seals set a key.
    "AUDIT_SIGNING_KEY",
    "AUDIT_PUBLIC_KEYS",
    "PLATFORM_API_TOKEN_PREVIOUS",
    "WAITING_ROOM_THEMES",
    "INVITE_VALIDITY_DAYS",
    "MAIL_FROM",
    "LIVEKIT_API_KEY_PREVIOUS",
    "LIVEKIT_API_SECRET_PREVIOUS",
    "LIVEKIT_URL",
    "RECORDINGS_S3_BUCKET",
    "RECORDINGS_S3_REGION",
  ].map((name) => [name, ""]),
);

const migrations = await readD1Migrations("./drizzle");

/**
 * Runs the tests of a project in the real Workers runtime, beside the Worker.
 *
 * @param main the Worker, if it is not that of wrangler.toml
 * @param databases those beside that of wrangler.toml
 */
const theWorker = (main?: string, databases: string[] = []) =>
  cloudflareTest({
    ...(main && { main }),
    wrangler: { configPath: "./wrangler.toml" },
    miniflare: {
      d1Databases: Object.fromEntries(["DB", "SPARE_1", "SPARE_2", ...databases].map((name) => [name, name])),
      // Tests deliver messages by hand, unless they ask for the real queue: otherwise rows would change when it suits a
      // consumer, also while a test compares them.
      queueProducers: {
        BULK_INVITES: "bulk-invites-by-hand",
        CHORES: "chores-by-hand",
        REAL_BULK_INVITES: "bulk-invites",
        WEBHOOKS: "webhook-deliveries-by-hand",
        INVITE_MAILS: "invite-mails-by-hand",
      },
      // The tests of a file come from one address. Those of the limits have counters of their own.
      ratelimits: {
        CLIENT_LIMIT: { namespace_id: "1001", simple: { limit: 1_000_000, period: 60 } },
        ORGANIZATION_LIMIT: { namespace_id: "1007", simple: { limit: 1_000_000, period: 60 } },
        FAILURE_LIMIT: { namespace_id: "1002", simple: { limit: 1_000_000, period: 60 } },
        BULK_INVITE_LIMIT: { namespace_id: "1003", simple: { limit: 1_000_000, period: 60 } },
        REDELIVERY_LIMIT: { namespace_id: "1004", simple: { limit: 1_000_000, period: 60 } },
        ACCESS_LOG_LIMIT: { namespace_id: "1006", simple: { limit: 1_000_000, period: 60 } },
        SMALL_LIMIT: { namespace_id: "1005", simple: { limit: 5, period: 60 } },
      },
      bindings: {
        ...notSet,
        MIGRATIONS: migrations,
        // An operator may change those of wrangler.toml.
        CLIENT_LIMIT_PER_MINUTE: "1200",
        ORGANIZATION_LIMIT_PER_MINUTE: "6000",
        BULK_INVITE_LIMIT_PER_MINUTE: "10",
        REDELIVERY_LIMIT_PER_MINUTE: "10",
        ACCESS_LOG_LIMIT_PER_MINUTE: "30",
        FAILURE_LIMIT_PER_MINUTE: "60",
        PLATFORM_API_TOKEN: "test-platform-token-of-32-characters",
        APP_URL: "https://app.test",
        DIGEST_SECRET: "test-digest-secret-of-32-characters",
        INVITE_TOKEN_SECRET: "test-invite-secret-of-32-characters",
        LIVEKIT_API_KEY: "test-livekit-key",
        LIVEKIT_API_SECRET: "test-livekit-secret-of-32-characters",
        RECORDINGS_S3_ENDPOINT: "/cdn-cgi/local/r2/s3",
        RECORDINGS_S3_ACCESS_KEY_ID: "local-access-key",
        RECORDINGS_S3_SECRET_ACCESS_KEY: "local-secret-key",
      },
    },
  });

/** For a busy machine: how fast something is, the benchmark shows. */
const TIMEOUT = 300_000;

/** The project of a folder of tests, and that of its files `*.long.test.ts`, which only `npm run test:long` runs. */
function projectsOf(name: string, options: TestUserConfig = {}, plugin?: () => Plugin) {
  const project = (files: TestUserConfig) => ({
    plugins: plugin ? [plugin()] : [],
    test: {
      testTimeout: TIMEOUT,
      hookTimeout: TIMEOUT,
      // No test may need another: `--sequence.seed` repeats the order of a run.
      sequence: { shuffle: { tests: true } },
      ...options,
      ...files,
    },
  });
  return [
    project({ name, include: [`test/${name}/**/*.test.ts`], exclude: ["**/*.long.test.ts"] }),
    project({ name: `${name}-long`, include: [`test/${name}/**/*.long.test.ts`] }),
  ];
}

const workerOptions: TestUserConfig = {
  setupFiles: ["test/worker/setup.ts"],
  // Files share a Worker: each test makes its own organization, so that sharing storage is harmless.
  isolate: false,
  // A module from Vitest's cache of files reaches the Worker without its source map: positions would be wrong.
  fsModuleCache: false,
};

/**
 * What a second database changes: who is let in, ids and secrets that name a database, what asks the directory, queues, the
 * cron and LiveKit. A handler of a route does not know in which database its organization lives.
 */
const OVER_TWO_DATABASES = [
  "access_log_seals",
  "api*",
  "authorization_codes",
  "bulk_invites_queue",
  "cron",
  "database_outages",
  "egress_deletion",
  "invite_acceptance",
  "invite_mails",
  "invites",
  "isolation",
  "issuers",
  "known_clients",
  "livekit_*",
  "logs",
  "operation",
  "organizations",
  "other_organizations",
  "platform_lists",
  "quiet",
  "rate_limits",
  "replication",
  "retention",
  "round_trips",
  "routes",
  "slow_bodies",
  "storage_keys",
  "token_exchange",
  "webhook_deliveries",
];

export default defineConfig({
  test: {
    // On two cores: tests wait for their servers, commands and databases most of the time.
    maxWorkers: 3,
    // Tests provoke faults on purpose, so the log of faults is shown only for tests that fail.
    silent: "passed-only",
    sequence: { shuffle: { files: true } },
    projects: [
      ...projectsOf("unit"),
      ...projectsOf("project"),
      ...projectsOf("e2e", {
        globalSetup: ["test/e2e/support/migrated_state.ts", "test/e2e/support/shared_server.ts"],
      }),
      ...projectsOf(
        "worker",
        {
          ...workerOptions,
          // Vitest ends the shared Worker before a file of another project.
          sequence: { shuffle: { tests: true }, groupOrder: 1 },
        },
        theWorker,
      ),
      {
        plugins: [theWorker("./test/worker/support/sharded_worker.ts", ["DIRECTORY"])],
        test: {
          name: "worker-sharded-long",
          include: OVER_TWO_DATABASES.map((name) => `test/worker/${name}.test.ts`),
          testTimeout: TIMEOUT,
          hookTimeout: TIMEOUT,
          ...workerOptions,
          sequence: { shuffle: { tests: true }, groupOrder: 2 },
        },
      },
    ],
  },
});
