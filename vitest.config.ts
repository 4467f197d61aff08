import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig, type Plugin, type TestUserConfig } from "vitest/config";

/** Clears a developer's settings in .dev.vars, which must not change a test. An empty setting counts as not set. */
const notSet = Object.fromEntries(
  [
    "ALLOW_HTTP",
    "OWN_HOSTS",
    // Many tests move time on by days. With a key, the cron would seal those days and write events, so only the tests of seals
    // set one.
    "AUDIT_SIGNING_KEY",
    "AUDIT_PUBLIC_KEYS",
    "PLATFORM_API_TOKEN_PREVIOUS",
    "PLATFORM_REPORTS_TOKEN",
    "PLATFORM_REPORTS_TOKEN_PREVIOUS",
    "PLATFORM_WEB_APP_TOKEN",
    "PLATFORM_WEB_APP_TOKEN_PREVIOUS",
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
 * Runs a project's tests in the real Workers runtime, beside the Worker.
 *
 * @param main the Worker's entry file; by default the one in wrangler.toml
 * @param databases bindings of further databases
 */
const theWorker = (main?: string, databases: string[] = []) =>
  cloudflareTest({
    ...(main && { main }),
    wrangler: { configPath: "./wrangler.toml" },
    miniflare: {
      d1Databases: Object.fromEntries(["DB", "SPARE_1", "SPARE_2", ...databases].map((name) => [name, name])),
      r2Buckets: ["RECORDINGS_EU", "AUDIT_LOGS_EU"],
      // Tests deliver messages by hand unless they ask for the real queue. Otherwise a consumer could change rows while a test
      // compares them.
      queueProducers: {
        BULK_INVITES: "bulk-invites-by-hand",
        CHORES: "chores-by-hand",
        REAL_BULK_INVITES: "bulk-invites",
        WEBHOOKS: "webhook-deliveries-by-hand",
        INVITE_MAILS: "invite-mails-by-hand",
      },
      // All tests of a file share one address. The tests of the limits use their own counters.
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
        // Set here too, because an operator may change the numbers in wrangler.toml.
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

/** In milliseconds. Long enough for a busy machine: the benchmark measures speed, not the tests. */
const TIMEOUT = 300_000;

/** For random stories, which take minutes on an idle machine. */
const TIMEOUT_OF_STORIES = 12 * TIMEOUT;

/** Runs alone: if other tests take all the CPU, garbage collection comes too late for the heap limit. */
const MEMORY = "test/e2e/memory.long.test.ts";

/** Two projects for a folder of tests: one for `*.long.test.ts`, which only `npm run test:long` runs, and one for the rest. */
function projectsOf(name: string, options: TestUserConfig = {}, plugin?: () => Plugin, folders = name) {
  const project = (files: TestUserConfig) => ({
    plugins: plugin ? [plugin()] : [],
    test: {
      testTimeout: TIMEOUT,
      hookTimeout: TIMEOUT,
      // Tests must not depend on each other. `--sequence.seed` repeats the order of a run.
      sequence: { shuffle: { tests: true } },
      ...options,
      ...files,
    },
  });
  return [
    project({ name, include: [`test/${folders}/**/*.test.ts`], exclude: ["**/*.long.test.ts"] }),
    project({ name: `${name}-long`, include: [`test/${folders}/**/*.long.test.ts`], exclude: [MEMORY] }),
  ];
}

const workerOptions: TestUserConfig = {
  setupFiles: ["test/worker/setup.ts"],
  // Files share a Worker and its storage. That is harmless, because each test creates its own organization.
  isolate: false,
  // A module from Vitest's file cache reaches the Worker without its source map, so positions in stacks would be wrong.
  fsModuleCache: false,
};

/**
 * The test files that a second database affects: authentication, ids and secrets that name a database, uses of the directory,
 * queues, the cron and LiveKit. Route handlers do not know which database their organization lives in, so the rest is left out.
 */
const OVER_TWO_DATABASES = [
  "access_log_seals",
  "api*",
  "authentication",
  "authorization_codes",
  "bulk_invites_queue",
  "cron.long",
  "database_outages.long",
  "egress_deletion",
  "errors",
  "invite_acceptance",
  "invite_mails",
  "invites",
  "isolation.long",
  "issuers",
  "known_clients",
  "livekit_*",
  "logs",
  "operation",
  "organizations",
  "other_organizations.long",
  "quiet",
  "rate_limits",
  "replication.long",
  "retention",
  "routes.long",
  "slow_bodies",
  "states",
  "storage_keys",
  "token_exchange",
  "webhook_deliveries",
];

export default defineConfig({
  test: {
    // More than two cores need: tests spend most of their time waiting for their servers, commands and databases.
    maxWorkers: 3,
    // Tests cause faults on purpose, so only failing tests show their log.
    silent: "passed-only",
    sequence: { shuffle: { files: true } },
    projects: [
      ...projectsOf("unit"),
      ...projectsOf("project"),
      ...projectsOf("simulator", { testTimeout: TIMEOUT_OF_STORIES, maxConcurrency: 2 }),
      ...projectsOf("model", { testTimeout: TIMEOUT_OF_STORIES }),
      ...projectsOf("e2e", {
        expect: { poll: { timeout: TIMEOUT } },
        globalSetup: ["test/e2e/support/migrated_state.ts", "test/e2e/support/shared_server.ts"],
      }),
      ...projectsOf(
        "worker",
        {
          ...workerOptions,
          // Vitest ends the shared Worker before it runs a file of another project, so this project's files run together.
          sequence: { shuffle: { tests: true }, groupOrder: 1 },
        },
        theWorker,
        "{worker,contract}",
      ),
      // The cron works through all organizations, so its tests have a Worker and a storage of their own.
      ...projectsOf(
        "cron",
        { ...workerOptions, sequence: { shuffle: { tests: true }, groupOrder: 2 } },
        theWorker,
      ),
      {
        test: {
          name: "memory-long",
          include: [MEMORY],
          globalSetup: ["test/e2e/support/migrated_state.ts"],
          testTimeout: TIMEOUT,
          hookTimeout: TIMEOUT,
          sequence: { groupOrder: 4 },
        },
      },
      {
        plugins: [theWorker("./test/worker/support/sharded_worker.ts", ["DIRECTORY"])],
        test: {
          name: "worker-sharded-long",
          include: OVER_TWO_DATABASES.map((name) => `test/{worker,contract,cron}/**/${name}.test.ts`),
          testTimeout: TIMEOUT,
          hookTimeout: TIMEOUT,
          ...workerOptions,
          sequence: { shuffle: { tests: true }, groupOrder: 3 },
        },
      },
    ],
  },
});
